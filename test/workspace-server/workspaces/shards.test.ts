// Scheduling of workspaces to several shards and to none.
import { Shard } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { modify, remove } from "../../../packages/workspace-server/src/state/modify.ts";
import { startWorld, World } from "./support/world.ts";

const key = (name: string) => ({ cluster: "root", namespace: "", name });
const at = (name: string) => ({ spec: { location: { selector: { matchLabels: { name } } } } });
const scheduled = (world: World, name: string) =>
  getCondition(world.workspace(name)?.status?.conditions, "WorkspaceScheduled");
const UNSCHEDULABLE = "experimental.core.kcp.io/unschedulable";
const change = (world: World, name: string, how: (shard: Shard) => Shard) =>
  modify(world.root.objects.of(Shard), key(name), how);
const marked = (value: string | undefined) => (shard: Shard) => {
  const { [UNSCHEDULABLE]: _, ...others } = shard.metadata.annotations ?? {};
  const annotations = value === undefined ? others : { ...others, [UNSCHEDULABLE]: value };
  return { ...shard, metadata: { ...shard.metadata, annotations } };
};

describe("Workspaces on shards", () => {
  it("are scheduled by selector, with children on other shards, under one path", async () => {
    await using world = await startWorld();
    await using _far = await world.join("far");
    await world.addShard("far", { region: "north" });
    await world.make("one", at("far"));
    const one = await world.phase("one", "Ready");
    const { metadata, spec } = world.workspace("one") ?? expect.fail();
    expect([metadata.labels?.["region"], metadata.annotations?.["core.kcp.io/shard"]]).to.deep.equal(["north", "far"]);
    expect([metadata.annotations?.["internal.tenancy.kcp.io/cluster"], spec.URL]).to.deep.equal([
      one,
      "https://far.example/clusters/root:one",
    ]);
    expect(world.root.state.logicalCluster(one)).to.equal(undefined);
    await world.make("two", at("root"), one);
    const two = await world.phase("two", "Ready", one);
    expect(world.root.state.logicalCluster(two)?.status?.URL).to.equal(`https://root.example/clusters/${two}`);
    const { index } = world.registry;
    expect(index.lookup("root:one:two")).to.include({ kind: "cluster", cluster: two, shard: "root" });
    await world.delete("one");
    await world.gone("one");
    expect([index.shardOf(one), index.shardOf(two)]).to.deep.equal([undefined, undefined]);
  });

  it("are Unavailable without a suitable shard, and Ready once there is one, after initialization", async () => {
    await using world = await startWorld();
    await change(world, "root", marked(""));
    await world.until(() =>
      world.root.state.shards.store.list().some(({ metadata }) => UNSCHEDULABLE in (metadata.annotations ?? {})),
    );
    await world.make("one");
    await world.phase("one", "Unavailable");
    const { lastTransitionTime: _, ...rest } = scheduled(world, "one") ?? expect.fail();
    expect(rest).to.deep.equal({
      type: "WorkspaceScheduled",
      status: "False",
      severity: "Error",
      reason: "Unschedulable",
      message: "No available shards to schedule the workspace",
    });
    await change(world, "root", marked(undefined));
    await world.phase("one", "Ready");
    expect(scheduled(world, "one")?.status).to.equal("True");
    expect(getCondition(world.workspace("one")?.status?.conditions, "WorkspaceInitialized")?.status).to.equal("True");
    await change(world, "root", marked("now"));
    await world.make("two");
    await world.phase("two", "Unavailable");
    expect(world.workspace("one")?.status?.phase).to.equal("Ready");
  });

  it("report an invalid selector", async () => {
    await using world = await startWorld();
    const selector = { matchExpressions: [{ key: "a", operator: "Like" }] };
    await world.make("one", { spec: { location: { selector } } });
    await world.phase("one", "Unavailable");
    expect(scheduled(world, "one")?.message).to.equal(
      'spec.location.selector is invalid: "Like" is not a valid label selector operator',
    );
  });

  it("wait for a known shard that does not run yet", async () => {
    await using world = await startWorld();
    await world.addShard("late");
    await world.make("one", at("late"));
    await world.phase("one", "Unavailable");
    await using _late = await world.join("late");
    await world.phase("one", "Ready");
  });

  it("are Unavailable without their Shard, and follow its URL", async () => {
    await using world = await startWorld();
    await world.make("one");
    await world.phase("one", "Ready");
    await change(world, "root", ({ spec, ...shard }) => ({
      ...shard,
      spec: { baseURL: "", ...spec, externalURL: "https://new.example/" },
    }));
    await world.until(() => world.workspace("one")?.spec.URL === "https://new.example/clusters/root:one");
    await remove(world.root.objects.of(Shard), key("root"));
    await world.until(() => world.root.state.shards.store.size === 0);
    await modify(world.root.objects.of(world.root.state.workspaces.resource), key("one"), (each) => ({
      ...each,
      metadata: { ...each.metadata, labels: { ...each.metadata.labels, touched: "1" } },
    }));
    await world.phase("one", "Unavailable");
    expect(scheduled(world, "one")?.message).to.equal(
      'chosen shard "root" does not exist anymore: shard.core.kcp.io "root" not found',
    );
    await world.addShard("root");
    await world.phase("one", "Ready");
  });

  it("stay unchanged while the shard with all Shard objects has not joined", async () => {
    await using stack = new AsyncDisposableStack();
    const stores = { root: stack.use(memoryStore()), far: stack.use(memoryStore()) };
    let one: string;
    {
      await using world = await startWorld({ stores });
      await world.make("one", at("far"));
      one = await world.phase("one", "Ready");
      await world.make("two", at("far"), one);
      await world.phase("two", "Ready", one);
      await world.until(() => world.workspace("two", one)?.metadata.labels?.["tenancy.kcp.io/phase"] === "Ready");
    }
    await using world = new World({});
    await using _far = await world.join("far", stores.far);
    const { resourceVersion } = world.workspace("two", one)?.metadata ?? expect.fail();
    // A later workspace proves that the earlier one has been reconciled.
    await world.make("three", {}, one);
    await world.phase("three", "Unavailable", one);
    expect(world.workspace("two", one)?.metadata.resourceVersion).to.equal(resourceVersion);
    await using _root = await world.join("root", stores.root);
    await world.phase("three", "Ready", one);
    expect(world.workspace("two", one)?.metadata.resourceVersion).to.equal(resourceVersion);
  });

  it("get another name if theirs is taken", async () => {
    const names = ["taken", "taken", "other"];
    await using world = await startWorld({ newName: () => names.shift() ?? "none" });
    await world.make("one");
    expect(await world.phase("one", "Ready")).to.equal("taken");
    await world.make("two");
    expect(await world.phase("two", "Ready")).to.equal("other");
  });
});
