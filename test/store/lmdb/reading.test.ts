import { setImmediate as turn } from "node:timers/promises";
import { lmdbStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { everything, put, refused } from "../contract/subject.ts";

const close = (store: Store) => store[Symbol.asyncDispose]();

async function fill(store: Store, keys: number): Promise<void> {
  const puts = Array.from({ length: keys }, (_, index) => put(`k${index}`, ""));
  await Promise.all(puts.map((operation) => store.commit({ conditions: [], operations: [operation] })));
}

/** Returns the number of turns of the event loop during some work. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns++) await turn();
  await work;
  return turns;
}

describe("a read of a store on LMDB", () => {
  it("fails with Closed if the store closes meanwhile", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    await fill(store, 3000);
    const readOnly = await lmdbStore({ dir: folder.path, readOnly: true });
    for (const each of [readOnly, store]) {
      const cut = refused("Closed", () => each.range(everything));
      await close(each);
      await cut;
    }
  });

  it("yields to the event loop between large values, and on the way back to an old one", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    const large = Array.from({ length: 16 }, (_, index) => put(`k${index}`, Buffer.alloc(2 ** 20)));
    const { revision } = await store.commit({ conditions: [], operations: large });
    expect(await turnsDuring(store.range(everything))).to.be.at.least(16);
    const puts = Array.from({ length: 8000 }, (_, count) => put("k0", String(count)));
    await Promise.all(puts.map((operation) => store.commit({ conditions: [], operations: [operation] })));
    const first = { from: "k0", to: "k0\0" };
    expect(await turnsDuring(store.range(first, { revision }))).to.be.at.least(8);
    expect((await store.range(first, { revision })).entries.map(({ value }) => value.length)).to.deep.equal([2 ** 20]);
    const later = await store.range(first, { revision: revision + 1234 });
    expect(later.entries.map(({ value }) => value.toString())).to.deep.equal(["1233"]);
    await close(store);
  });
});
