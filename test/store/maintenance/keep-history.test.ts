import { isStoreError, keepHistory, memoryStore, type Store, StoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { everything, put, refused } from "../contract/subject.ts";

describe("keepHistory", () => {
  let store: Store;

  beforeEach(() => {
    store = memoryStore({ revision: 1 });
  });
  afterEach(() => store[Symbol.asyncDispose]());

  const write = (): Promise<unknown> => store.commit({ conditions: [], operations: [put("a", "x")] });

  /** Resolves when the store has compacted a revision. */
  async function forgotten(revision: number): Promise<void> {
    for (;;)
      try {
        await store.range(everything, { revision });
        await new Promise(setImmediate);
      } catch (error) {
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        return;
      }
  }

  it("compacts during writes, until it is disposed", async () => {
    const keeping = keepHistory(store, { revisions: 10, interval: 0.001 });
    for (let count = 0; count < 100; count++) await write();
    await forgotten(80);
    for (let count = 0; count < 100; count++) await write();
    await forgotten(180);
    keeping[Symbol.dispose]();
    keeping[Symbol.dispose]();
  });

  it("reports failures, and retries", async () => {
    const errors: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const flaky: Store = Object.assign(Object.create(store), {
      head: async () => {
        if (++calls === 3) resolve();
        if (calls < 3) throw new StoreError("Unavailable", `call ${calls}`);
        return 1;
      },
      get: () => undefined,
    });
    using _ = keepHistory(flaky, { interval: 0.001, onError: (error) => errors.push(error) });
    await promise;
    expect(errors.map(String)).to.deep.equal(["StoreError: call 1", "StoreError: call 2"]);
  });

  it("ends silently with the store", async () => {
    const errors: unknown[] = [];
    let heads = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const closing: Store = Object.assign(Object.create(store), {
      head: async () => {
        heads++;
        if (heads === 2) {
          await store[Symbol.asyncDispose]();
          resolve();
        }
        return store.head();
      },
      get: () => undefined,
    });
    using _ = keepHistory(closing, { interval: 0.001, onError: (error) => errors.push(error) });
    await promise;
    // Another call that started later has checked often, so the first one must have too.
    const other = memoryStore({ revision: 1 });
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const counting: Store = Object.assign(Object.create(other), {
      head: async () => {
        if (++looks === 5) looked.resolve();
        return 1;
      },
      get: () => undefined,
    });
    using _other = keepHistory(counting, { interval: 0.001 });
    await looked.promise;
    await other[Symbol.asyncDispose]();
    expect([heads, errors]).to.deep.equal([2, []]);
  });

  it("rejects invalid bounds", async () => {
    for (const options of [{ age: 0 }, { revisions: -1 }, { interval: Number.NaN }])
      await refused("Invalid", () => keepHistory(store, options));
  });
});
