// A server with two shards, and a process that is a space, killed while clients write to Spaces: no acknowledged write is lost, and nothing
// is made twice.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import { Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { killRounds } from "../../_support/kill-rounds.ts";
import { until } from "../../_support/until.ts";
import { Start } from "../../cli/support/start.ts";
import { needsKubectl } from "../../e2e/support/kubectls.ts";
import { MAP, SECRET } from "./support/management.ts";
import { servingIn } from "./support/processes.ts";

const ROUNDS = killRounds(4);
/** Acknowledged writes of each Space before a kill. */
const WRITES = 20;
const WRITERS = 3;
const FLAGS = ["--batteries-included=+spaces", "--shards=2"];

/** Spaces by their path in the view: a managed one, a workspace on each shard, and a process. */
const PATHS = ["default/made", "default/far", "default/near", "local/edge"] as const;
const OBJECTS = `
apiVersion: space.kubestellar.io/v1alpha1
kind: SpaceProviderDesc
metadata: { name: local }
spec: { ProviderType: processes }
---
apiVersion: space.kubestellar.io/v1alpha1
kind: Space
metadata: { name: made, namespace: default }
spec: { SpaceProviderDescName: default }
---
apiVersion: space.kubestellar.io/v1alpha1
kind: Space
metadata: { name: edge, namespace: default }
spec: { SpaceProviderDescName: local }
---
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata: { name: far }
spec: { location: { selector: { matchLabels: { name: shard-1 } } } }
---
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata: { name: near }
spec: { location: { selector: { matchLabels: { name: root } } } }
`;

/** A server, and clients of it. */
class Running implements AsyncDisposable {
  readonly server: Start;
  readonly #stack = new AsyncDisposableStack();

  private constructor(server: Start) {
    this.server = this.#stack.use(server);
  }

  static async start(folder: string): Promise<Running> {
    return new Running(await Start.ready({ in: folder, flags: FLAGS, within: 120_000 }));
  }

  /** Returns a client of the administrator for a path of the server. */
  async client(path: string): Promise<Client> {
    const overrides = { cluster: { server: `${this.server.url}${path}` } };
    return this.#stack.use(await Client.fromKubeconfig({ file: this.server.path("admin.kubeconfig"), overrides }));
  }

  /** Returns the identities of all that Spaces consist of. */
  async state(): Promise<object> {
    const client = await this.client("/clusters/root:spaces");
    const all = async <T extends object>(kind: KindReference<T>) => (await client.resource(kind).all()).items;
    const named = ({ metadata: { namespace = "", name = "", uid = "" } }: Named): string =>
      `${namespace}/${name} ${uid}`;
    return {
      spaces: (await all(Space))
        .map((space) => `${named(space)} ${space.status?.spaceID} ${space.status?.Phase}`)
        .sort(),
      providers: (await all(SpaceProviderDesc)).map((one) => `${named(one)} ${one.status?.spaces}`).sort(),
      workspaces: (await all(Workspace)).map((one) => `${named(one)} ${one.spec.cluster}`).sort(),
      secrets: (await all(SECRET)).map(named).sort(),
      clusters: await this.#logicalClusters(),
      folders: readdirSync(this.server.path("spaces")).filter((name) => name !== ".keeper"),
      processes: servingIn(join(this.server.path("spaces"), "/")).length,
    };
  }

  /** Waits until all Spaces are Ready and can be read. */
  async ready(): Promise<void> {
    const client = await this.client("/clusters/root:spaces");
    const states = async (): Promise<boolean> => {
      const { items } = await client.resource(Space).all();
      return items.filter(({ status }) => status?.Phase === "Ready").length === PATHS.length;
    };
    await until(states, { within: 90_000 });
    for (const path of PATHS) {
      const space = await this.client(`/services/spaces/${path}`);
      await until(
        () =>
          space
            .resource(MAP)
            .list({ limit: 1 })
            .then(Boolean, () => false),
        { within: 90_000 },
      );
    }
  }

  async #logicalClusters(): Promise<readonly string[]> {
    const asked = await this.server.kubectl(
      "get",
      "shards",
      "-o",
      "jsonpath={range .items[*]}{.spec.baseURL}{'\\n'}{end}",
    );
    const found = asked
      .slice(2)
      .split("\n")
      .map(async (url) => {
        const path = "/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters";
        const answer = await this.server.kubectl("--context=shard-base", "--server", url, "get", "--raw", path);
        const { items } = JSON.parse(answer.slice(2)) as { readonly items: readonly Named[] };
        return items.map(({ metadata }) => `${metadata.annotations?.["kcp.io/cluster"]} ${metadata.uid}`).sort();
      });
    return (await Promise.all(found)).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

interface Named {
  readonly metadata: {
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Writers of one Space. Acknowledged states by object; `undefined` for a deleted one, absent while a write is on the way. */
class Writers {
  readonly acknowledged = new Map<string, string | undefined>();
  readonly #client: Client;
  readonly #prefix: string;
  #count = 0;
  #isOver = false;
  readonly #running: Promise<unknown>;

  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
    this.#running = Promise.all(Array.from({ length: WRITERS }, () => this.#run()));
  }

  /** Stops after the writes on the way. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const maps = this.#client.resource(MAP).in("default");
    const retry = { signal: AbortSignal.timeout(120_000) };
    while (!this.#isOver) {
      const at = this.#count++;
      const name = `${this.#prefix}-${at}`;
      const write = async (state: string | undefined, run: () => Promise<unknown>): Promise<void> => {
        this.acknowledged.delete(name);
        await run();
        this.acknowledged.set(name, state);
      };
      try {
        await write("made", () => maps.create({ metadata: { name }, data: { state: "made" } } as never, retry));
        if (at % 2 === 0)
          await write("changed", () => maps.mergePatch(name, { data: { state: "changed" } } as never, retry));
        if (at % 5 === 0) await write(undefined, () => maps.delete(name, retry));
      } catch {
        // Not acknowledged.
      }
    }
  }
}

describe("Spaces on two shards", function () {
  this.timeout(300_000 + ROUNDS * 120_000);
  before(needsKubectl);

  it("lose no acknowledged write and are not made again when the server or a space is killed", async () => {
    using folder = tree({ "objects.yaml": OBJECTS });
    let running = await Running.start(folder.path);
    await using over = new AsyncDisposableStack();
    over.defer(async () => {
      await running.server.end("SIGTERM");
      await running[Symbol.asyncDispose]();
    });
    const at = ["--server", `${running.server.url}/clusters/root:spaces`];
    expect(await running.server.kubectl(...at, "create", "-f", join(folder.path, "objects.yaml"))).to.match(/^0 /);
    await running.ready();
    const before = await running.state();
    expect(before).to.have.property("processes", 1);
    const acknowledged = new Map<string, Map<string, string | undefined>>(PATHS.map((path) => [path, new Map()]));
    let writes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const isServer = round % 2 === 0;
      const writers = new Map<string, Writers>();
      for (const path of PATHS)
        writers.set(path, new Writers(await running.client(`/services/spaces/${path}`), `r${round}`));
      await until(() => [...writers.values()].every((one) => one.acknowledged.size >= WRITES), { within: 60_000 });
      const [pid = 0] = servingIn(join(running.server.path("spaces"), "/"));
      if (isServer) await running.server.end("SIGKILL");
      else process.kill(pid, "SIGKILL");
      await Promise.all([...writers.values()].map((one) => one.end()));
      if (isServer) {
        await running[Symbol.asyncDispose]();
        running = await Running.start(folder.path);
      } else await until(() => servingIn(join(running.server.path("spaces"), "/")).some((one) => one !== pid));
      await running.ready();
      for (const [path, writer] of writers) {
        const all = acknowledged.get(path) ?? new Map<string, string | undefined>();
        for (const [name, state] of writer.acknowledged) all.set(name, state);
        const maps = (await running.client(`/services/spaces/${path}`)).resource(MAP).in("default");
        const { items } = (await maps.all()) as { readonly items: readonly (Named & { data?: { state?: string } })[] };
        const there = new Map(items.map(({ metadata, data }) => [metadata.name, data?.state]));
        const lost = [...all].filter(([name, state]) => there.get(name) !== state).map(([name]) => name);
        expect(lost, `${path} after round ${round}`).to.deep.equal([]);
        writes += writer.acknowledged.size;
      }
      expect(await running.state(), `after round ${round}`).to.deep.equal(before);
      // After a kill of the server its process is the same one.
      if (isServer) expect(servingIn(join(running.server.path("spaces"), "/"))).to.deep.equal([pid]);
    }
    expect(writes).to.be.at.least(ROUNDS * PATHS.length * WRITES);
  });
});
