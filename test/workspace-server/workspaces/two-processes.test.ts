// Two processes of one shard: one pauses between any two of its writes while the other deletes what it is creating.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Halt, HeldStore } from "./support/held-store.ts";
import { startWorld, World } from "./support/world.ts";

/** Ignores failures: writes of the paused process fail or come too late. */
const log = (): void => undefined;

async function worldOn(store: Store): Promise<World> {
  const world = new World({ log });
  await world.join("root", store);
  return world;
}

/** Paths of the existing logical clusters. */
const paths = (world: World): readonly (string | undefined)[] =>
  world.root.state.logicalClusters.store
    .list()
    .map(({ metadata }) => metadata.annotations?.["kcp.io/path"])
    .sort();

/**
 * One process creates a workspace and pauses before a write; the workspace is then deleted through another process.
 *
 * @returns whether it had that many writes
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
  // The last write, once seen, implies all earlier ones.
  await writer.make("last");
  await second.phase("last", "Ready");
  await second.until(() => paths(second).length === 2);
  expect(paths(second)).to.deep.equal(["root", "root:last"]);
  return isHeld;
}

describe("Two processes of a shard", function () {
  this.timeout(60_000);
  for (const [name, after] of [
    ["continues", Number.POSITIVE_INFINITY],
    ["is killed", 0],
    ["is killed one write later", 1],
    ["is killed two writes later", 2],
  ] as const)
    it(`leave nothing behind when one creates and the other deletes a workspace, and the first ${name}`, async () => {
      let before = 0;
      while (await standsStill({ before, after })) before++;
      expect(before).to.be.greaterThan(8);
    });
});
