// Providers over REST, and providers with lists of kubeconfigs, in `start --batteries-included=+spaces`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Start } from "../cli/support/start.ts";
import { type Served, serve, TOKEN } from "../plugins/spaces/rest/support/served.ts";
import { KeptSpaces, kubeconfigOf } from "../plugins/spaces/support/kept-spaces.ts";
import { needsKubectl } from "./support/kubectls.ts";

const READY = "{.status.conditions[?(@.type=='Ready')]";

interface Provided {
  readonly type: string;
  readonly secret: Readonly<Record<string, string>>;
  readonly until: string;
}

describe("space providers of virtual-workspaces start", function () {
  this.timeout(120_000);
  const kept = new KeptSpaces();
  let provider: Served;

  before(async function () {
    needsKubectl.call(this);
    provider = await serve(kept);
    kept.set("found");
  });
  after(() => provider?.[Symbol.asyncDispose]());

  async function management(server: Start, ...args: readonly string[]): Promise<string> {
    const said = await server.kubectl("--server", `${server.url}/clusters/root:spaces`, ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  /** Creates a SpaceProviderDesc of a type, with its Secret. @param until its expected state */
  async function provide(server: Start, { type, secret, until }: Provided): Promise<void> {
    const literals = Object.entries(secret).map(([key, value]) => `--from-literal=${key}=${value}`);
    await management(server, "create", "secret", "generic", type, ...literals);
    const file = join(server.folder.path, "provider.json");
    const about = { apiVersion: "space.kubestellar.io/v1alpha1", kind: "SpaceProviderDesc", metadata: { name: type } };
    const spec = { ProviderType: type, secretRef: { namespace: "default", name: type } };
    writeFileSync(file, JSON.stringify({ ...about, spec }));
    await management(server, "create", "-f", file);
    await management(server, "wait", `spaceproviderdesc/${type}`, `--for=jsonpath=${until}`, "--timeout=60s");
  }

  it("receive no request on this machine unless that is allowed", async () => {
    await using server = await Start.ready({ flags: ["--batteries-included=+spaces"] });
    const secret = { url: provider.url.replace("http:", "https:"), token: TOKEN };
    await provide(server, { type: "rest", secret, until: `${READY}.reason}=OpenFailed` });
    const said = await management(server, "get", "spaceproviderdesc", "rest", "-o", `jsonpath=${READY}.message}`);
    expect(said).to.match(
      /its address is restricted for space providers: ask the operator of this server to allow it$/,
    );
  });

  it("receive requests at allowed hosts, and kubeconfigs become Spaces", async () => {
    await using server = await Start.ready({ flags: ["--batteries-included=+spaces", "--mount-allow=127.0.0.1"] });
    const until = "{.status.Phase}=Ready";
    await provide(server, { type: "kubeconfigs", secret: { lent: kubeconfigOf("lent", "a") }, until });
    await provide(server, { type: "rest", secret: { url: provider.url, token: TOKEN }, until });
    for (const [type, name] of [
      ["rest", "found"],
      ["kubeconfigs", "lent"],
    ] as const) {
      const space = ["-n", `spaceprovider-${type}`, "wait", `space/${name}`];
      await management(server, ...space, "--for=create", "--timeout=30s");
      await management(server, ...space, "--for=jsonpath={.status.Phase}=Ready", "--timeout=30s");
    }
  });
});
