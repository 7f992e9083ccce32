// Random histories on several shards: logical clusters on two shards at once, workspaces on the wrong shard, several workspaces for
// one logical cluster, cycles. The index must equal the model after each change, and must not depend on how the shards' histories
// interleave.
import { isDeepStrictEqual } from "node:util";
import { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { expect } from "chai";
import fc from "fast-check";
import { CLUSTERS, history, PATHS, SHARDS } from "./arbitrary.ts";
import { type Change, Model, play } from "./model.ts";

/** chai is slow for equal values, so it compares only different ones, to show them. */
function same(actual: unknown, expected: unknown, name: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, name).to.deep.equal(expected);
}

function compare(index: PathIndex, model: Model | PathIndex): void {
  for (const path of PATHS) same(index.lookup(path), model.lookup(path), path);
  for (const name of CLUSTERS) {
    same(index.pathOf(name), model.pathOf(name), name);
    same(index.workspaceOf(name), model.workspaceOf(name), name);
  }
  for (const name of SHARDS) same(index.logicalClusters(name), model.logicalClusters(name), name);
}

/** Interleaves the shards' changes differently, with each shard's in order. */
function mixed(changes: readonly Change[], picks: readonly number[]): Change[] {
  const queues = SHARDS.map((name) => changes.filter((one) => one.shard === name));
  const order: Change[] = [];
  for (let turn = 0; order.length < changes.length; turn++) {
    const next = queues[(picks[turn % picks.length] ?? turn) % queues.length]?.shift();
    if (next !== undefined) order.push(next);
    else if (turn > picks.length) order.push(...queues.flatMap((queue) => queue.splice(0)));
  }
  return order;
}

describe("PathIndex after random changes", () => {
  it("equals the model after each change", () => {
    fc.assert(
      fc.property(history, (changes) => {
        const index = new PathIndex();
        const model = new Model();
        for (const one of changes) {
          play(index, one);
          model.play(one);
          compare(index, model);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("does not depend on the order of shards", () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(SHARDS.length - 1), { minLength: 1, maxLength: 30 }), (changes, picks) => {
        const [a, b] = [new PathIndex(), new PathIndex()];
        for (const one of changes) play(a, one);
        for (const one of mixed(changes, picks)) play(b, one);
        compare(a, b);
      }),
      { numRuns: 500 },
    );
  });
});
