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

describe("watches of a store on LMDB", () => {
  it("see the same long history as one alone, each its own range, while writes go on", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    const base = await store.head();
    const write = (from: number, to: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: to - from }, (_, index) => from + index).map((count) =>
          store.commit({ conditions: [], operations: [put(`${"abc"[count % 3]}/${count % 30}`, String(count))] }),
        ),
      );
    await write(0, 3000);
    const rangeOf = (letter: string) => ({ from: `${letter}/`, to: `${letter}0` });
    const read = async (letter: string, goal: number): Promise<string[]> => {
      const lines: string[] = [];
      for await (const { events } of store.watch(rangeOf(letter), { after: base, previous: true })) {
        for (const { key, entry, previous } of events) lines.push(`${key} ${previous?.value ?? "-"} ${entry?.value}`);
        if (lines.length >= goal) return lines;
      }
      return lines;
    };
    const wanted = (letter: string, end: number): string[] =>
      Array.from({ length: end }, (_, count) => count)
        .filter((count) => "abc"[count % 3] === letter)
        .map((count) => `${letter}/${count % 30} ${count < 30 ? "-" : count - 30} ${count}`);
    const letters = [..."abcabcabc"];
    const reads = letters.map((letter) => read(letter, 1500));
    await turn();
    await write(3000, 4500);
    for (const [index, lines] of (await Promise.all(reads)).entries())
      expect(lines).to.deep.equal(wanted(letters[index] ?? "", 4500));
    expect(await read("a", 1500)).to.deep.equal(wanted("a", 4500));
    await close(store);
  });
});
