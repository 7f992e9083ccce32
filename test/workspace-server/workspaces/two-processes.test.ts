// Two processes of one shard: one stands still between any two of its writes while the other deletes what it is making.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Halt, HeldStore } from "./support/held-store.ts";
import { startWorld, World } from "./support/world.ts";

/** Its writes fail, or come too late. */
const log = (): void => undefined;

async function worldOn(store: Store): Promise<World> {
  const world = new World({ log });
  await world.join("root", store);
  return world;
}

/** Where the logical clusters that are there say they are. */
const paths = (world: World): readonly (string | undefined)[] =>
  world.root.state.logicalClusters.store
    .list()
    .map(({ metadata }) => metadata.annotations?.["kcp.io/path"])
    .sort();

/**
 * One process makes a workspace and stands still before a write; another comes, and the workspace is deleted through it.
 *
 * @returns whether it had as many writes to do
 */
async function standsStill(halt: Halt): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(memoryStore());
  await using writer = await startWorld({ stores: { root: store }, working: false });
  const held = new HeldStore(store, halt);
  await using first = await worldOn(held.store);
  await writer.make("one");
  const isReady = first.phase("one", "Ready").then(() => false);
  const isHeld = await Promise.race([held.held.then(() => true), isReady]);
  await using second = await worldOn(store);
  await writer.delete("one");
  await second.gone("one");
  const released = held.release();
  if (isHeld) await released;
  // Who has seen what was written last has seen all before it.
  await writer.make("last");
  await second.phase("last", "Ready");
  await second.until(() => paths(second).length === 2);
  expect(paths(second)).to.deep.equal(["root", "root:last"]);
  return isHeld;
}

describe("Two processes of a shard", function () {
  this.timeout(60_000);
  for (const [name, after] of [
    ["goes on", Number.POSITIVE_INFINITY],
    ["is killed", 0],
    ["is killed one write later", 1],
    ["is killed two writes later", 2],
  ] as const)
    it(`leave nothing behind of what one makes and the other deletes, when the first ${name}`, async () => {
      let before = 0;
      while (await standsStill({ before, after })) before++;
      expect(before).to.be.greaterThan(8);
    });
});
