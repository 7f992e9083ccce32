// Deletion of workspaces: their content, the order, and what blocks it.
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { expect } from "chai";
import { ensure, modify, remove } from "../../../packages/workspace-server/src/state/modify.ts";
import { contentCollections, objectsOf } from "./support/content.ts";
import { ClusterRole, Widget } from "./support/kinds.ts";
import { startWorld, type World } from "./support/world.ts";

const key = (cluster: string, name: string) => ({ cluster, namespace: "", name });
const widget = (world: World, cluster: string, finalizers: string[] = []) =>
  ensure(world.root.objects.of(Widget), key(cluster, "w"), () => ({ metadata: { finalizers }, spec: {} }));
const release = (world: World, cluster: string) =>
  modify(world.root.objects.of(Widget), key(cluster, "w"), (each) => ({
    ...each,
    metadata: { ...each.metadata, finalizers: [] },
  }));
const leftIn = async (world: World, cluster: string): Promise<string[]> => {
  const kept = await Promise.all(contentCollections(world.root.objects).map((each) => objectsOf(each, cluster)));
  return kept.flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
};
const condition = (world: World, name: string) =>
  getCondition(world.workspace(name)?.status?.conditions, "WorkspaceContentDeleted");

describe("Workspaces under deletion", () => {
  it("are deleted with their content and all children", async () => {
    await using world = await startWorld();
    await world.make("a");
    const a = await world.phase("a", "Ready");
    await world.make("b", {}, a);
    const b = await world.phase("b", "Ready", a);
    await world.make("c", {}, b);
    const c = await world.phase("c", "Ready", b);
    for (const cluster of [a, b, c]) await widget(world, cluster);
    expect(world.root.state.logicalCluster(c)?.metadata.annotations?.["kcp.io/path"]).to.equal("root:a:b:c");
    await world.delete("a");
    await world.gone("a");
    for (const cluster of [a, b, c]) {
      expect(world.root.state.logicalCluster(cluster)).to.equal(undefined);
      expect(await leftIn(world, cluster)).to.deep.equal([]);
    }
  });

  it("wait for finalizers of their content, name them, and keep permissions until then", async () => {
    await using world = await startWorld();
    await world.make("one");
    const cluster = await world.phase("one", "Ready");
    await ensure(world.root.objects.of(ClusterRole), key(cluster, "r"), () => ({}));
    await widget(world, cluster, ["test.dev/hold", "test.dev/also"]);
    await world.delete("one");
    await world.until(() => condition(world, "one") !== undefined);
    const { lastTransitionTime: _, ...rest } = condition(world, "one") ?? expect.fail();
    expect(rest).to.deep.equal({
      type: "WorkspaceContentDeleted",
      status: "False",
      severity: "Info",
      reason: "SomeResourcesRemain",
      message:
        "Some resources are remaining: widgets.test.dev has 1 resource instances; Some content in the logical cluster has finalizers remaining: test.dev/also in 1 resource instances, test.dev/hold in 1 resource instances",
    });
    await world.until(() => world.workspace("one")?.metadata.labels?.["tenancy.kcp.io/phase"] === "Deleting");
    expect(await leftIn(world, cluster)).to.deep.equal(["Widget w", "ClusterRole r"]);
    await release(world, cluster);
    await world.gone("one");
    expect(await leftIn(world, cluster)).to.deep.equal([]);
  });

  it("wait for their terminators before any content is deleted", async () => {
    await using world = await startWorld();
    await world.type("root", "guarded", { terminator: true });
    await world.make("one", { spec: { type: { name: "guarded", path: "root" } } });
    const cluster = await world.phase("one", "Ready");
    await widget(world, cluster);
    const behind = () => world.root.state.logicalCluster(cluster);
    await world.until(() => behind()?.metadata.finalizers?.includes("kcp.io/has-terminators") === true);
    expect(
      Object.keys(behind()?.metadata.labels ?? {}).filter((each) => each.startsWith("terminator.")),
    ).to.have.length(1);
    await world.delete("one");
    await world.phase("one", "Terminating");
    await world.until(() => behind()?.metadata.labels?.["tenancy.kcp.io/phase"] === "Terminating");
    expect(world.workspace("one")?.status?.terminators).to.deep.equal(["root:guarded"]);
    expect(await leftIn(world, cluster)).to.deep.equal(["Widget w"]);
    await world.change(cluster, (each) => ({ ...each, status: { ...each.status, terminators: [] } }));
    await world.gone("one");
    expect(await leftIn(world, cluster)).to.deep.equal([]);
  });

  it("wait for other finalizers first", async () => {
    await using world = await startWorld();
    await world.make("one", { metadata: { finalizers: ["test.dev/hold"] } });
    const cluster = await world.phase("one", "Ready");
    await world.delete("one");
    await world.phase("one", "Deleting");
    expect(world.root.state.logicalCluster(cluster)?.metadata.deletionTimestamp).to.equal(undefined);
    await modify(world.root.objects.of(world.root.state.workspaces.resource), key("root", "one"), (each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: ["core.kcp.io/logicalcluster"] },
    }));
    await world.gone("one");
    expect(world.root.state.logicalCluster(cluster)).to.equal(undefined);
  });

  it("delete no logical cluster but their own, whatever their annotations and spec", async () => {
    await using world = await startWorld();
    await world.make("victim");
    const cluster = await world.phase("victim", "Ready");
    const annotations = { "internal.tenancy.kcp.io/cluster": cluster, "core.kcp.io/shard": "root" };
    const finalizers = ["core.kcp.io/logicalcluster"];
    await world.make("thief", { metadata: { annotations, finalizers } });
    const other = await world.phase("thief", "Ready");
    expect(other).not.to.equal(cluster);
    const at = `https://root.example/clusters/root:second`;
    await world.make("second", { metadata: { annotations, finalizers }, spec: { cluster, URL: at } });
    await world.delete("second");
    await world.gone("second");
    await world.delete("thief");
    await world.gone("thief");
    expect(world.root.state.logicalCluster(cluster)?.metadata.deletionTimestamp).to.equal(undefined);
  });

  it("are deleted at once if they were never scheduled", async () => {
    await using world = await startWorld();
    await world.make("one", { spec: { location: { selector: { matchLabels: { no: "where" } } } } });
    await world.phase("one", "Unavailable");
    await world.delete("one");
    await world.gone("one");
  });

  it("stay Ready if their logical cluster was deleted directly", async () => {
    await using world = await startWorld();
    await world.make("one");
    const cluster = await world.phase("one", "Ready");
    await remove(world.root.objects.of(world.root.state.logicalClusters.resource), key(cluster, "cluster"));
    await world.until(() => world.root.state.logicalCluster(cluster) === undefined);
    expect(world.workspace("one")?.status?.phase).to.equal("Ready");
    await world.delete("one");
    await world.gone("one");
  });
});

describe("Workspaces during initialization", () => {
  it("wait for their initializers, and name them", async () => {
    await using world = await startWorld();
    await world.type("root", "slow", { initializer: true, defaultAPIBindings: [{ path: "root", export: "x" }] });
    await world.make("one", { spec: { type: { name: "slow", path: "root" } } });
    const message = () => getCondition(world.workspace("one")?.status?.conditions, "WorkspaceInitialized")?.message;
    const cluster = await world.phase("one", "Initializing");
    await world.until(() => message() === "Initializers still exist: [root:slow system:apibindings]");
    const labels = () => Object.keys(world.root.state.logicalCluster(cluster)?.metadata.labels ?? {});
    await world.until(() => labels().filter((each) => each.startsWith("initializer.")).length === 2);
    await world.change(cluster, (each) => ({
      ...each,
      status: { ...each.status, initializers: ["system:apibindings"] },
    }));
    await world.until(() => message() === "Initializers still exist: [system:apibindings]");
    await world.change(cluster, (each) => ({ ...each, status: { ...each.status, initializers: [] } }));
    await world.phase("one", "Ready");
    await world.until(() => labels().every((each) => !each.startsWith("initializer.")));
    expect(world.workspace("one")?.status?.initializers).to.equal(undefined);
  });

  it("can be inactive behind a Workspace that stays Ready, and active again", async () => {
    await using world = await startWorld();
    await world.make("one");
    const cluster = await world.phase("one", "Ready");
    const mark = (value: string) =>
      world.change(cluster, (each) => ({
        ...each,
        metadata: { ...each.metadata, annotations: { ...each.metadata.annotations, "core.kcp.io/inactive": value } },
      }));
    const phase = () => world.root.state.logicalCluster(cluster)?.status?.phase;
    await mark("true");
    await world.until(() => phase() === "Inactive");
    expect(world.workspace("one")?.status?.phase).to.equal("Ready");
    await mark("false");
    await world.until(() => phase() === "Ready");
  });

  it("give their owner a binding, restored after deletion or change", async () => {
    await using world = await startWorld();
    const owner = '{"username":"alice"}';
    await world.make("one", { metadata: { annotations: { "experimental.tenancy.kcp.io/owner": owner } } });
    const cluster = await world.phase("one", "Ready");
    await world.until(() => world.bound(cluster) === "alice");
    await world.rebind(cluster, undefined);
    await world.until(() => world.bound(cluster) === "alice");
    await world.rebind(cluster, "mallory");
    await world.until(() => world.bound(cluster) === "alice");
  });
});
