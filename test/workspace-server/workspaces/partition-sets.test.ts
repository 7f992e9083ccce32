// Shards divided into partitions.
import { PartitionSet, type PartitionSetSpec } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { expect } from "chai";
import { ensure, modify } from "../../../packages/workspace-server/src/state/modify.ts";
import { startWorld, type World } from "./support/world.ts";

const key = { cluster: "root", namespace: "", name: "set" };
const make = (world: World, spec: PartitionSetSpec) =>
  ensure(world.root.objects.of(PartitionSet), key, () => ({ spec }));
const change = (world: World, spec: PartitionSetSpec) =>
  modify(world.root.objects.of(PartitionSet), key, (set) => ({ ...set, spec }));
const status = (world: World) => world.root.state.partitionSets.store.get(key)?.status;
const labels = (world: World): string[] =>
  world.root.state.partitions.store
    .list("root")
    .map(({ spec }) => JSON.stringify(spec.selector?.matchLabels))
    .sort();
const names = (world: World): string[] =>
  world.root.state.partitions.store
    .list("root")
    .map(({ metadata }) => metadata.name ?? "")
    .sort();

describe("Partition sets", () => {
  it("have a partition for each combination of labels that a shard has", async () => {
    await using world = await startWorld();
    await world.addShard("a", { region: "North", zone: "1" });
    await world.addShard("b", { region: "North", zone: "1" }, { "experimental.core.kcp.io/unschedulable": "" });
    await world.addShard("c", { region: "South", zone: "2" });
    await world.addShard("d", { region: "South" });
    await make(world, { dimensions: ["zone", "region", "zone"] });
    await world.until(() => status(world)?.count === 2 && labels(world).length === 2);
    expect(labels(world)).to.deep.equal(['{"region":"North","zone":"1"}', '{"region":"South","zone":"2"}']);
    expect(names(world).map((name) => name.replace(/[0-9a-z]{5}$/, ""))).to.deep.equal([
      "set-north-1-",
      "set-south-2-",
    ]);
    const [partition] = world.root.state.partitions.store.list("root");
    expect(partition?.metadata.ownerReferences).to.deep.equal([
      {
        apiVersion: "topology.kcp.io/v1alpha1",
        kind: "PartitionSet",
        name: "set",
        uid: world.root.state.partitionSets.store.get(key)?.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    const kept = names(world)[0];
    const matchExpressions = [{ key: "zone", operator: "In" as const, values: ["1", "2", "3"] }];
    await world.addShard("e", { region: "West", zone: "3" });
    await world.until(() => labels(world).length === 3);
    expect(names(world)[0]).to.equal(kept);
    await change(world, { dimensions: ["region"], shardSelector: { matchExpressions, matchLabels: { zone: "1" } } });
    await world.until(() => labels(world).join() === '{"region":"North","zone":"1"}' && status(world)?.count === 1);
    const [last] = world.root.state.partitions.store.list("root");
    expect(last?.spec.selector?.matchExpressions).to.deep.equal(matchExpressions);
    expect(getCondition(status(world)?.conditions, "PartitionsReady")?.status).to.equal("True");
  });

  it("have partitions with names of at most 63 characters, as generated names are", async () => {
    await using world = await startWorld();
    await world.addShard("a", { region: "r".repeat(63) });
    await make(world, { dimensions: ["region"] });
    await world.until(() => status(world)?.count === 1 && names(world).length === 1);
    expect(names(world)[0]).to.match(/^set-r{54}[0-9a-z]{5}$/);
  });

  it("without labels have none, and say what is no selector", async () => {
    await using world = await startWorld();
    await make(world, {});
    await world.until(() => getCondition(status(world)?.conditions, "PartitionsReady") !== undefined);
    expect(status(world), "as kcp, which tells no count of none").not.to.have.property("count");
    expect((status(world)?.conditions ?? []).map(({ type, status: is }) => `${type} ${is}`)).to.deep.equal([
      "PartitionSetValid True",
      "PartitionsReady True",
    ]);
    await change(world, { shardSelector: { matchLabels: { "!": "a" } } });
    const condition = () => getCondition(status(world)?.conditions, "PartitionSetValid");
    await world.until(() => condition()?.status === "False");
    expect([condition()?.reason, condition()?.severity]).to.deep.equal(["InvalidSelector", "Error"]);
    expect(getCondition(status(world)?.conditions, "PartitionsReady")).to.include({
      status: "False",
      reason: "ErrorGeneratingPartitions",
    });
  });
});
