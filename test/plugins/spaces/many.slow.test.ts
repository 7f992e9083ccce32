// Many Spaces of each type of provider, created and deleted in waves by kubectl, leave nothing behind in the server or on its disk.
// SPACES sets their number for each type.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { until } from "../../_support/until.ts";
import { Start } from "../../cli/support/start.ts";
import { needsKubectl } from "../../e2e/support/kubectls.ts";
import { servingIn } from "./support/processes.ts";

const MANY = Number(process.env["SPACES"] ?? "12");
const FLAGS = ["--batteries-included=+spaces"];
const PROBE = join(import.meta.dirname, "support/probe.fixture.ts");
/** Growth of memory without a leak: the watch history of 4096 events for each kind, and compiled code. */
const [GROWTH, GROWTH_OF_EACH] = [16 * 2 ** 20, 128 * 2 ** 10];
/** Number of Spaces at a time, by provider. A process needs more of the machine than a workspace. */
const WAVES = { default: 10, local: 4 } as const;
/** Kinds whose objects are counted over all workspaces. */
const KINDS = [
  ...["secrets", "configmaps", "serviceaccounts", "namespaces"].map((plural) => `/api/v1/${plural}`),
  "/apis/core.kcp.io/v1alpha1/logicalclusters",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
];
const PROVIDERS = `
apiVersion: space.kubestellar.io/v1alpha1
kind: SpaceProviderDesc
metadata: { name: local }
spec: { ProviderType: processes }
---
apiVersion: v1
kind: Secret
metadata: { name: list, namespace: default }
---
apiVersion: space.kubestellar.io/v1alpha1
kind: SpaceProviderDesc
metadata: { name: list }
spec: { ProviderType: kubeconfigs, secretRef: { name: list, namespace: default } }
`;
const space = (name: string, provider: string): string => `
apiVersion: space.kubestellar.io/v1alpha1
kind: Space
metadata: { name: ${name}, namespace: default }
spec: { SpaceProviderDescName: ${provider} }
`;

/** Resources that the process of the server holds, and its memory in bytes. */
interface Held {
  readonly timers: number;
  readonly sockets: number;
  readonly children: number;
  readonly files: number;
  readonly bytes: number;
}

/** A server with Spaces, and kubectl in their workspace. */
class Counted implements AsyncDisposable {
  readonly #server: Start;
  readonly #files = tree({});

  private constructor(server: Start) {
    this.#server = server;
  }

  static async start(): Promise<Counted> {
    return new Counted(await Start.ready({ flags: FLAGS, preload: PROBE, within: 120_000 }));
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    const answer = await this.#server.kubectl("--server", `${this.#server.url}/clusters/root:spaces`, ...args);
    if (!answer.startsWith("0 ")) throw new Error(`kubectl ${args.join(" ")}: ${answer}`);
    return answer.slice(2);
  }

  file(name: string, text: string): string {
    const path = join(this.#files.path, name);
    writeFileSync(path, text);
    return path;
  }

  /** Waits until `*`/`*` lists that many config maps. A busy machine may not read all Spaces in time, which is a 503. */
  async across(count: number): Promise<void> {
    const at = `${this.#server.url}/services/spaces/*/*`;
    let answer = "";
    const look = async (): Promise<boolean> => {
      answer = await this.#server.kubectl("--server", at, "get", "configmaps", "-A", "-o", "name");
      return answer.startsWith("0 ") && answer.split("\n").length >= count;
    };
    await until(look, { within: 120_000, what: () => answer });
  }

  /** Returns kubeconfig entries of this server for a Secret, by name. */
  async kubeconfigs(names: readonly string[]): Promise<string> {
    const text = await this.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json");
    const data = Object.fromEntries(names.map((name) => [name, Buffer.from(text).toString("base64")]));
    return JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "list", namespace: "default" }, data });
  }

  /** Counts what Spaces consist of: objects over all workspaces, folders and processes. */
  async left(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const kind of KINDS) {
      const answer = await this.#server.kubectl("--context=shard-base", "get", "--raw", `/clusters/*${kind}`);
      counts[kind] = JSON.parse(answer.slice(2)).items.length;
    }
    counts["spaces"] = (await this.kubectl("get", "spaces", "-A", "-o", "name")).split("\n").filter(Boolean).length;
    counts["folders"] = foldersIn(this.#server.path("spaces")).flatMap(foldersIn).length;
    counts["processes"] = servingIn(join(this.#server.path("spaces"), "/")).length;
    return counts;
  }

  async held(): Promise<Held> {
    const reports = (): readonly string[] => this.#server.stderr.match(/^held .*$/gm) ?? [];
    const before = reports().length;
    this.#server.signal("SIGUSR2");
    await until(() => reports().length > before);
    return JSON.parse((reports().at(-1) ?? "").slice("held ".length));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.end("SIGTERM");
    await this.#server[Symbol.asyncDispose]();
    this.#files[Symbol.dispose]();
  }
}

/** Creates and deletes Spaces of a provider in waves, and reads across them while they exist. */
async function churn(server: Counted, provider: keyof typeof WAVES, count: number): Promise<void> {
  const wave = WAVES[provider];
  for (let done = 0; done < count; done += wave) {
    const names = Array.from({ length: Math.min(wave, count - done) }, (_, n) => `${provider}-${done + n}`);
    const file = server.file("wave.yaml", names.map((name) => space(name, provider)).join("---"));
    await server.kubectl("create", "-f", file);
    await server.kubectl("wait", "-f", file, "--for=jsonpath={.status.Phase}=Ready", "--timeout=120s");
    await server.across(names.length);
    await server.kubectl("delete", "-f", file, "--timeout=120s");
  }
}

/** Adds clusters to the Secret of the provider `list`, and removes them. */
async function list(server: Counted, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, n) => `list-${n}`);
  await server.kubectl("replace", "-f", server.file("list.json", await server.kubeconfigs(names)));
  const here = ["-n", "spaceprovider-list"];
  for (const name of names) await server.kubectl(...here, "wait", `space/${name}`, "--for=create", "--timeout=60s");
  await server.kubectl(...here, "wait", "space", "--all", "--for=jsonpath={.status.Phase}=Ready", "--timeout=60s");
  await server.across(count);
  await server.kubectl("replace", "-f", server.file("list.json", await server.kubeconfigs([])));
  await server.kubectl(...here, "wait", "space", "--all", "--for=delete", "--timeout=60s");
}

describe("many Spaces that are created and deleted", function () {
  this.timeout(600_000 + MANY * 20_000);
  before(needsKubectl);

  it(`leave no object, folder, process, timer, socket or file behind: ${MANY} of each type`, async () => {
    await using server = await Counted.start();
    await server.kubectl("create", "-f", server.file("providers.yaml", PROVIDERS));
    for (const provider of ["default", "local", "list"])
      await server.kubectl("wait", `spaceproviderdesc/${provider}`, "--for=jsonpath={.status.Phase}=Ready");
    const before = await server.left();
    expect(before).to.include({ spaces: 0, folders: 0, processes: 0 });
    await churn(server, "default", 2);
    await churn(server, "local", 2);
    await list(server, 2);
    const isSame = async (): Promise<boolean> => JSON.stringify(await server.left()) === JSON.stringify(before);
    await until(isSame, { within: 60_000 });
    const held = await server.held();

    await churn(server, "default", MANY);
    await churn(server, "local", MANY);
    await list(server, MANY);
    await until(isSame, { within: 60_000 }).catch(() => undefined);
    expect(await server.left()).to.deep.equal(before);
    // Streams across Spaces stay for a minute after their last reader.
    let after = await server.held();
    const counted = ["timers", "sockets", "children", "files"] as const;
    await until(
      async () => {
        after = await server.held();
        return counted.every((what) => after[what] <= held[what]);
      },
      { within: 120_000, what: () => `${JSON.stringify(after)} at most ${JSON.stringify(held)}` },
    );
    expect(after.children).to.equal(0);
    expect(after.bytes - held.bytes).to.be.lessThan(GROWTH + 3 * MANY * GROWTH_OF_EACH);
  });
});

/** Returns the folders in a folder: those of providers, which stay, or of the spaces of a provider. */
function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}
