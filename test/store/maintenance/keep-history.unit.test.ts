import { memoryStore, type Store, StoreError, type Transaction } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type HistoryBounds, HistoryKeeper } from "../../../packages/store/src/maintenance/keep-history.ts";
import { everything, put, refused } from "../contract/subject.ts";

describe("HistoryKeeper", () => {
  let store: Store;
  let time = 0;
  const bounds: HistoryBounds = { age: 300, revisions: 1000, now: () => time };
  const keeper = (of: Store = store): HistoryKeeper => new HistoryKeeper(of, bounds);

  beforeEach(() => {
    store = memoryStore({ revision: 1 });
    time = 1000;
  });
  afterEach(() => store[Symbol.asyncDispose]());

  /** Writes a number of revisions. @returns the newest */
  async function write(count: number): Promise<number> {
    for (let index = 0; index < count; index++) await store.commit({ conditions: [], operations: [put("a", "x")] });
    return store.head();
  }

  /** Returns the oldest readable revision. */
  async function oldest(): Promise<number> {
    for (let revision = 1; ; revision++)
      try {
        await store.range(everything, { revision });
        return revision;
      } catch {}
  }

  it("compacts revisions older than the age, and no newer ones", async () => {
    const one = keeper();
    const old = await write(10);
    await one.step();
    time += 299;
    await write(10);
    await one.step();
    expect(await oldest()).to.equal(1);
    time += 1;
    await one.step();
    expect(await oldest()).to.equal(old);
    const young = await write(10);
    await one.step();
    time += 300;
    await one.step();
    expect(await oldest()).to.equal(young);
  });

  it("compacts revisions beyond the maximum number, however recent", async () => {
    const one = keeper();
    await one.step();
    const head = await write(1500);
    await one.step();
    expect(await oldest()).to.equal(head - 1000);
  });

  it("does not touch an idle store", async () => {
    const one = keeper();
    await write(10);
    for (let count = 0; count < 100; count++) {
      await one.step();
      time += 100;
    }
    const head = await store.head();
    for (let count = 0; count < 100; count++) {
      await one.step();
      time += 100;
    }
    expect(await store.head()).to.equal(head);
    expect(await oldest()).to.be.at.least(head - 2);
  });

  it("writes one note, whichever of many is first", async () => {
    const keepers = Array.from({ length: 8 }, () => keeper());
    const old = await write(10);
    await Promise.all(keepers.map((each) => each.step()));
    time += 300;
    await Promise.all(keepers.map((each) => each.step()));
    expect(await store.head()).to.equal(old + 1);
    expect(await oldest()).to.equal(old);
    for (const each of keepers) await each.step();
    expect(await store.head()).to.equal(old + 1);
  });

  it("continues where another one stopped", async () => {
    const [one, other] = [keeper(), keeper()];
    await one.step();
    await other.step();
    const head = await write(2000);
    await one.step();
    const next = await write(10);
    await other.step();
    expect(await oldest()).to.equal(next - 1000);
    expect(next).to.equal(head + 11);
  });

  it("retries a compaction that failed", async () => {
    let failing = true;
    const flaky: Store = Object.assign(Object.create(store), {
      head: () => store.head(),
      get: (key: string) => store.get(key),
      commit: store.commit.bind(store),
      compact: async (revision: number) => {
        if (failing) throw new StoreError("Unavailable", "not now");
        await store.compact(revision);
      },
    });
    const one = keeper(flaky);
    const head = await write(1500);
    await refused("Unavailable", () => one.step());
    expect(await oldest()).to.equal(1);
    failing = false;
    await one.step();
    expect(await oldest()).to.equal(head - 1000);
  });

  it("compacts even if writing its note fails for lack of space, or with an unknown outcome", async () => {
    for (const code of ["NoSpace", "Unknown"] as const) {
      const failing: Store = Object.assign(Object.create(store), {
        head: () => store.head(),
        get: (key: string) => store.get(key),
        commit: async () => {
          throw new StoreError(code, "the note fails");
        },
        compact: store.compact.bind(store),
      });
      const head = await write(1500);
      await keeper(failing).step();
      expect(await oldest()).to.equal(head - 1000);
    }
  });

  it("starts again if the store is replaced by one with lower revisions", async () => {
    let current = store;
    let failing = true;
    await using second = memoryStore({ revision: 1 });
    const replaced: Store = Object.assign(Object.create(store), {
      head: () => current.head(),
      get: (key: string) => current.get(key),
      commit: (transaction: Transaction) => current.commit(transaction),
      compact: async (revision: number) => {
        if (failing) throw new StoreError("Unavailable", "not now");
        await current.compact(revision);
      },
    });
    const one = keeper(replaced);
    await write(5000);
    await refused("Unavailable", () => one.step());
    failing = false;
    current = store = second;
    const note = Buffer.from(JSON.stringify({ revision: 4000 })); // restored together with the rest
    await store.commit({ conditions: [], operations: [{ type: "put", key: "~history", value: note }] });
    const old = await write(10);
    await one.step();
    expect(await oldest()).to.equal(1);
    time += 300;
    await one.step();
    expect(await oldest()).to.equal(old);
  });

  it("ignores an unreadable note", async () => {
    await store.commit({ conditions: [], operations: [put("~history", "{")] });
    const head = await write(1500);
    await keeper().step();
    expect(await oldest()).to.equal(head - 1000);
  });
});
