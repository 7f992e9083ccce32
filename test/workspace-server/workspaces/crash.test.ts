// Servers killed between any two writes and restarted: work is completed, without leftovers.
import { LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Random } from "../../_support/random.ts";
import { contentCollections, objectsOf } from "./support/content.ts";
import { DyingStore } from "./support/dying-store.ts";
import { startWorld, World } from "./support/world.ts";

/** Failures are expected here. */
const log = (): void => undefined;

/** Restarts the shards on the same stores. */
async function again(stores: Readonly<Record<string, Store>>): Promise<World> {
  const world = new World({ log });
  for (const [name, store] of Object.entries(stores)) await world.join(name, store);
  return world;
}

/** Runs a server that is killed after a number of writes. @returns whether it had that many */
async function live(stores: Readonly<Record<string, Store>>, writes: number, is: (world: World) => boolean) {
  const dying = Object.entries(stores).map(([name, store]) => [name, new DyingStore(store, writes)] as const);
  await using world = await again(Object.fromEntries(dying.map(([name, { store }]) => [name, store])));
  const killed = Promise.race(dying.map(([, { dead }]) => dead)).then(() => true);
  const done = world.until(() => is(world) || world.over).then(() => false);
  const was = await Promise.race([killed, done]);
  for (const [, each] of dying) each.die();
  world.over = true;
  await done;
  return was;
}

/** Returns stored objects whose logical cluster does not exist. */
async function orphans(stores: Readonly<Record<string, Store>>): Promise<string[]> {
  await using world = await again(stores);
  const clusters = new Set<string>();
  const found: string[] = [];
  const owners = new Set<string>();
  for (const { objects } of world.registry.shards) {
    for (const { metadata } of await objectsOf(objects.of(LogicalCluster) as never))
      clusters.add(metadata.annotations?.["kcp.io/cluster"] ?? "");
    for (const { metadata } of await objectsOf(objects.of(Workspace) as never)) owners.add(metadata.uid ?? "");
  }
  for (const { objects, state } of world.registry.shards) {
    for (const collection of contentCollections(objects)) {
      for (const { kind, metadata } of await objectsOf(collection))
        if (!clusters.has(metadata.annotations?.["kcp.io/cluster"] ?? "")) found.push(`${kind} ${metadata.name}`);
    }
    for (const { metadata, spec } of state.logicalClusters.store.list())
      if (spec.owner !== undefined && !owners.has(spec.owner.uid ?? ""))
        found.push(`LogicalCluster ${metadata.annotations?.["kcp.io/path"]}`);
  }
  return found;
}

const isReady = (name: string) => (world: World) =>
  world.workspace(name)?.metadata.labels?.["tenancy.kcp.io/phase"] === "Ready";
const isGone = (name: string) => (world: World) => world.workspace(name) === undefined;

/** Whether the workspaces in `root` are exactly the wanted ones, and Ready. */
const isAs = (wanted: ReadonlySet<string>) => (world: World) => {
  const there = world.root.state.workspaces.store.list("root").map(({ metadata }) => metadata.name ?? "");
  return there.length === wanted.size && there.every((name) => wanted.has(name) && isReady(name)(world));
};

/** Checks a completed workspace. */
async function expectWhole(stores: Readonly<Record<string, Store>>, name: string): Promise<void> {
  await using world = await again(stores);
  const cluster = await world.phase(name, "Ready");
  await world.until(() => world.registry.logicalCluster(cluster)?.status?.phase === "Ready");
  const shard = world.registry.shardWith(cluster);
  if (shard === undefined) return expect.fail("the logical cluster is nowhere");
  await world.until(() => world.bound(cluster) === "alice");
  const kept = contentCollections(shard.objects).map((collection) => objectsOf(collection, cluster));
  const names = (await Promise.all(kept)).flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(names.sort()).to.deep.equal([
    "ClusterRoleBinding workspace-admin",
    "Namespace default",
    "Namespace kube-system",
  ]);
}

const OWNED = { metadata: { annotations: { "experimental.tenancy.kcp.io/owner": '{"username":"alice"}' } } };

describe("A server that is killed", () => {
  for (const names of [["root"], ["root", "far"]]) {
    it(`completes and deletes a workspace, with ${names.length} shards, after a crash at any write`, async function () {
      this.timeout(120_000);
      let stopped = true;
      let rounds = 0;
      for (let writes = 0; stopped; writes++) {
        const stores = Object.fromEntries(names.map((name) => [name, memoryStore()]));
        await using stack = new AsyncDisposableStack();
        for (const store of Object.values(stores)) stack.use(store);
        {
          await using world = await startWorld({ stores, working: false });
          // Another shard than the Workspace's, so that the two are written separately.
          const selector = { matchLabels: { name: names.at(-1) ?? "" } };
          await world.make("one", { ...OWNED, spec: { location: { selector } } });
        }
        stopped = await live(stores, writes, isReady("one"));
        await expectWhole(stores, "one");
        {
          await using world = new World({ working: false });
          for (const [name, store] of Object.entries(stores)) await world.join(name, store);
          await world.delete("one");
        }
        stopped = (await live(stores, writes, isGone("one"))) || stopped;
        {
          await using world = await again(stores);
          await world.gone("one");
        }
        expect(await orphans(stores)).to.deep.equal([]);
        rounds++;
      }
      expect(rounds).to.be.greaterThan(8);
    });
  }

  it("deletes a partly created workspace, after a crash at any write", async function () {
    this.timeout(120_000);
    let begun = true;
    for (let made = 0; begun; made++) {
      let stopped = true;
      // Every write of one, with every fourth write of the other.
      for (let writes = made % 4; stopped; writes += 4) {
        await using stack = new AsyncDisposableStack();
        const stores = { root: stack.use(memoryStore()) };
        {
          await using world = await startWorld({ stores, working: false });
          await world.make("one", OWNED);
        }
        begun = await live(stores, made, isReady("one"));
        {
          await using world = new World({ working: false });
          await world.join("root", stores.root);
          await world.delete("one");
        }
        stopped = await live(stores, writes, isGone("one"));
        {
          await using world = await again(stores);
          await world.gone("one");
        }
        expect(await orphans(stores), `${made} and ${writes} writes`).to.deep.equal([]);
      }
    }
  });

  it("completes creations and deletions after repeated crashes", async function () {
    this.timeout(120_000);
    const random = new Random(7);
    const stores = { root: memoryStore(), far: memoryStore() };
    await using stack = new AsyncDisposableStack();
    for (const store of Object.values(stores)) stack.use(store);
    await (await startWorld({ stores, working: false }))[Symbol.asyncDispose]();
    const wanted = new Set<string>();
    for (let round = 0; round < 30; round++) {
      {
        await using world = new World({ working: false });
        for (const [name, store] of Object.entries(stores)) await world.join(name, store);
        for (let at = 0; at < 3; at++) {
          const name = `w${random.below(8)}`;
          if (world.workspace(name) === undefined) {
            await world.make(name, OWNED);
            wanted.add(name);
          } else {
            await world.delete(name);
            wanted.delete(name);
          }
        }
      }
      await live(stores, random.below(25), isAs(wanted));
    }
    {
      await using world = await again(stores);
      await world.until(() => isAs(wanted)(world));
    }
    for (const name of wanted) await expectWhole(stores, name);
    expect(await orphans(stores)).to.deep.equal([]);
  });
});
