// `kubectl ws` with a ClusterProxy whose cluster replaces its workspace.
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Program } from "../../go/support/program.ts";
import { TestHub } from "../../plugins/cluster-proxy/support/hub.ts";
import { grant, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";

const PLUGIN = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/kubectl-ws.ts")];
const EDGE = "Current workspace is 'root:edge' (type root:universal)";
const THROUGH = `${EDGE}, through its ClusterProxy "first".`;

describe("kubectl ws, with a cluster that replaces a workspace,", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let folder: Tree;

  before(async () => {
    hub = await TestHub.start();
    await hub.make("other");
    await hub.make("first", { replacesWorkspace: true });
    for (const name of ["other", "first"]) await hub.until(name, (one) => one.status?.URL !== undefined);
    await hub.make("later", { replacesWorkspace: true });
    await hub.until("later", (one) => one.status?.URL !== undefined);
    await makeWorkspace(hub.server, "plain");
    // Dave has access to the workspace, but may not list ClusterProxies.
    await grant(hub.server, hub.edge, { user: "dave", verbs: ["create"] });
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    folder = tree({ root: configOf("root"), dave: configOf("dave"), alice: configOf("alice") });
  });
  afterEach(() => folder[Symbol.dispose]());

  function configOf(user: string): string {
    return JSON.stringify({
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: `${hub.server.url}/clusters/root` } }],
      users: [{ name: "u", user: { token: user } }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    });
  }

  async function ws(args: readonly string[], user = "root"): Promise<string> {
    const env = { HOME: folder.path, KUBECONFIG: join(folder.path, user) };
    await using program = new Program(localNode, [...PLUGIN, ...args], env);
    const { code } = await program.ended;
    return `${code} ${[...program.lines, program.stderr.trim()].filter(Boolean).join("\n")}`;
  }

  it("enters the oldest replacing cluster, and others by name", async () => {
    expect(await ws([":root:edge"])).to.equal(`0 ${THROUGH}`);
    expect(await ws(["."])).to.match(/^0 Current workspace is 'root:edge', through its ClusterProxy "first"\./);
    expect(await ws([":root"])).to.match(/^0 Current workspace is 'root'/);
    expect(await ws(["edge"])).to.equal(`0 ${THROUGH}`);
    expect(await ws([".."])).to.match(/^0 Current workspace is 'root'/);
    expect(await ws(["-"])).to.match(/^0 Current workspace is 'root:edge', through its ClusterProxy "first"\./);
    expect(await ws([`${hub.server.url}/services/clusterproxy/root:edge/other`])).to.equal(
      `0 ${EDGE}, through its ClusterProxy "other".`,
    );
    expect(await ws([`${hub.server.url}/clusters/root:edge`])).to.equal(`0 ${THROUGH}`);
    expect(await ws(["use", ":root:plain"])).to.match(/^0 Current workspace is 'root:plain' \(type [^)]*\)\.$/);
  });

  it("enters the workspace itself with --direct, also from within, and rejects it where it has no meaning", async () => {
    expect(await ws(["use", ":root:edge", "--direct"])).to.equal(`0 ${EDGE}.`);
    expect(await ws(["use", ":root:edge"])).to.equal(`0 ${THROUGH}`);
    expect(await ws(["use", ".", "--direct"])).to.equal(`0 ${EDGE}.`);
    expect(await ws(["."])).to.equal("0 Current workspace is 'root:edge'.");
    for (const word of ["-", ":"])
      expect(await ws(["use", word, "--direct"])).to.match(
        new RegExp(`^[12] .*--direct does not work with ${word}: name the workspace`),
      );
    expect(await ws(["."])).to.equal("0 Current workspace is 'root:edge'.");
  });

  it("enters the workspace itself for users who may not list its ClusterProxies", async () => {
    expect(await ws([":root:edge"], "dave")).to.match(/^0 Current workspace is 'root:edge'[^,]*\.$/);
  });

  it("creates workspaces from within, and enters them", async () => {
    await ws([":root:edge"]);
    expect(await ws(["create", "kitchen", "--enter"])).to.match(
      /Current workspace is 'root:edge:kitchen' \([^)]*\)\.$/,
    );
    expect(await ws([".."])).to.equal(`0 ${THROUGH}`);
    expect(await ws(["create-context", "shop"])).to.equal(`0 Created context "shop" and switched to it.`);
    expect(await ws(["."])).to.match(/through its ClusterProxy "first"\.$/);
  });
});
