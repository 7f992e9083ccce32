// The tree over several shards: what decides, what it costs, and what a shard that is away means.
import { REQUIRED_GROUPS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { modify } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { logicalClusterKey } from "../../../../packages/workspace-server/src/state/shard-state.ts";
import { treeView } from "../../../../packages/workspace-server/src/views/tree-view.ts";
import { testLog } from "../../../_setup/log.ts";
import { BareShard, serve } from "./support/shards.ts";

const TREE = "/services/workspaces/clusters/*/apis/tenancy.kcp.io/v1alpha1/workspaces";
const alice = { user: "alice" };

interface Item {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

/** Two shards: `a` and `b` in the root, `b` and what is in it on the other shard. */
async function start() {
  const stack = new AsyncDisposableStack();
  const registry = new ShardRegistry();
  const home = stack.use(await BareShard.start("root", registry));
  const far = await BareShard.start("far", registry);
  stack.use(far);
  await home.cluster("root", "root");
  await home.cluster("ca", "root:a");
  await home.workspace("root", "a", { cluster: "ca" });
  await far.cluster("cb", "root:b");
  await home.workspace("root", "b", { cluster: "cb" });
  await far.cluster("cc", "root:b:c");
  await far.workspace("cb", "c", { cluster: "cc" });
  const view = treeView({ registry, ready: async () => undefined, log: testLog().log });
  const server = stack.use(await serve(view));
  const names = async (user = "alice"): Promise<string[]> => {
    const { status, text, body } = await server.get(TREE, { user });
    expect(status, text).to.equal(200);
    return body.items.map(({ metadata: { name, annotations } }: Item) => `${annotations["kcp.io/path"]}:${name}`);
  };
  const forgotten = (): void => {
    for (const { asked } of [home, far]) asked.length = 0;
  };
  const asked = (): string[] => [...home.asked, ...far.asked].sort();
  return {
    registry,
    home,
    far,
    server,
    names,
    asked,
    forgotten,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe("the tree of workspaces of several shards", () => {
  it("is one, in which each shard decides about what it has", async () => {
    await using world = await start();
    const { home, far, server, names } = world;
    expect(await names("root")).to.deep.equal(["root:b:c", "root:a", "root:b"]);
    expect(await names()).to.deep.equal([]);
    await using watch = await server.watch(`${TREE}?watch=true`, alice);
    await far.admit("cc", "alice");
    expect(await watch.take(1)).to.deep.equal(["ADDED c"]);
    await far.admit("cb", "team", "Group");
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    await home.admit("cb", "alice");
    await home.admit("system:admin", "alice");
    expect(await watch.take(1), "of its own, and not of the other's").to.deep.equal(["ADDED a"]);
    await home.refuse("system:admin", "alice");
    expect(await watch.take(1)).to.deep.equal(["DELETED a"]);
    await far.refuse("cb", "team");
    expect(await watch.take(1)).to.deep.equal(["DELETED b"]);
    expect(await names()).to.deep.equal(["root:b:c"]);
  });

  it("asks about nothing but what has changed", async () => {
    await using world = await start();
    const { home, far, server, asked, forgotten } = world;
    await home.admit("ca", "alice");
    await using watch = await server.watch(`${TREE}?watch=true`, alice);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    await using bobs = await server.watch(`${TREE}?watch=true`, { user: "bob" });
    forgotten();
    await far.admit("cc", "bob");
    expect(await bobs.take(1)).to.deep.equal(["ADDED c"]);
    expect(asked(), "for each of two who read").to.deep.equal(["cc", "cc"]);
    await using again = await server.watch(`${TREE}?watch=true`, alice);
    expect(await again.take(1)).to.deep.equal(["ADDED a"]);
    expect(asked(), "who has a stream shares it").to.deep.equal(["cc", "cc"]);
    forgotten();
    await home.admit("system:admin", "bob");
    expect(await bobs.take(1)).to.deep.equal(["ADDED a"]);
    await home.admit("cx", "nobody");
    expect((await server.get(TREE, alice)).status, "all is settled").to.equal(200);
    expect(new Set(asked()), "of that shard alone").to.deep.equal(new Set(["ca", "cx", "root"]));
  });

  it("follows the lives of logical clusters, and the groups that they require", async () => {
    await using world = await start();
    const { home, far, server, names } = world;
    const change = (
      { logicalClusters }: BareShard,
      name: string,
      { phase = "Ready", ...annotations }: Readonly<Record<string, string>>,
    ) =>
      modify(logicalClusters, logicalClusterKey(name), (found) => ({
        ...found,
        metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } },
        status: { ...found.status, phase: phase as "Ready" },
      }));
    await home.admit("ca", "alice");
    await far.admit("cb", "alice");
    await using watch = await server.watch(`${TREE}?watch=true`, alice);
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED a", "ADDED b"]);
    await change(home, "ca", { phase: "Unavailable" });
    expect(await watch.take(1)).to.deep.equal(["DELETED a"]);
    await change(home, "ca", { phase: "Initializing" });
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    await change(far, "cb", { [REQUIRED_GROUPS_ANNOTATION]: "crew" });
    expect(await watch.take(1)).to.deep.equal(["DELETED b"]);
    await change(far, "cb", { [REQUIRED_GROUPS_ANNOTATION]: "crew;team" });
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    await far.removeCluster("cb");
    expect(await watch.take(1), "a Workspace that leads nowhere").to.deep.equal(["DELETED b"]);
    expect(await names("root"), "but for those who may do everything").to.include("root:b");
  });

  it("shows who may do everything those that are not there yet, and mounts to who may enter what they are in", async () => {
    await using world = await start();
    const { home, names, server } = world;
    await home.workspace("root", "later", {});
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Cluster", name: "x" };
    await home.workspace("ca", "mounted", { mount: { ref }, URL: "https://elsewhere.example" });
    expect(await names("root")).to.have.members(["root:a", "root:b", "root:b:c", "root:later", "root:a:mounted"]);
    await using watch = await server.watch(`${TREE}?watch=true`, alice);
    await home.admit("ca", "alice");
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED a", "ADDED mounted"]);
    await home.refuse("ca", "alice");
    expect((await watch.take(2)).sort()).to.deep.equal(["DELETED a", "DELETED mounted"]);
  });

  it("loses nothing by a shard that is away, and goes on when it is back", async () => {
    const registry = new ShardRegistry();
    await using home = await BareShard.start("root", registry);
    await using store = memoryStore();
    const far = await BareShard.start("far", registry, store);
    await home.cluster("root", "root");
    await far.cluster("cb", "root:b");
    await far.workspace("cb", "c", { cluster: "cb" });
    await far.admit("cb", "alice");
    await home.cluster("ca", "root:a");
    await home.workspace("root", "a", { cluster: "ca" });
    const view = treeView({ registry, ready: async () => undefined, log: () => undefined });
    await using server = await serve(view);
    await using watch = await server.watch(`${TREE}?watch=true`, alice);
    expect(await watch.take(1)).to.deep.equal(["ADDED c"]);
    await far[Symbol.asyncDispose]();
    await home.admit("ca", "alice");
    await home.admit("system:admin", "alice");
    expect(await watch.take(1), "and nothing else").to.deep.equal(["ADDED a"]);
    const { status, body } = await server.get(`${TREE}?resourceVersion=0`, alice);
    expect([status, body.items.length]).to.deep.equal([200, 2]);
    await using back = await BareShard.start("far", registry, store);
    await back.refuse("cb", "alice");
    expect(await watch.take(1)).to.deep.equal(["DELETED c"]);
  });
});
