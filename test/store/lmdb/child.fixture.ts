// Runs a task with a store on LMDB, and prints results as lines of JSON.
import cluster from "node:cluster";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { isStoreError, lmdbStore, type Store } from "@virtual-workspaces/store";

const [, , task = "", dir = ""] = argv;
const everything = { from: "", to: "\u{10FFFF}" };
const say = (value: unknown): void => console.log(JSON.stringify(value));

const tasks: Record<string, () => Promise<void>> = {
  /** Holds the store until it is killed. */
  async hold() {
    await lmdbStore({ dir });
    say("open");
    setInterval(() => undefined, 2 ** 30);
  },

  /** Holds the store in a cluster worker until it is killed, even after its primary is. */
  async cluster() {
    if (cluster.isPrimary) {
      cluster.fork();
      return;
    }
    await lmdbStore({ dir });
    say(process.pid);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },

  /** Opens and closes the store. */
  async open() {
    const store = await lmdbStore({ dir });
    say("open");
    await store[Symbol.asyncDispose]();
  },

  /** Opens the store, and waits as long as others hold it. */
  async wait() {
    const store = await lmdbStore({ dir, wait: 20_000 });
    say("open");
    await store[Symbol.asyncDispose]();
  },

  /** Reads the newest values of another process repeatedly, until a value is empty. */
  async follow() {
    const store = await lmdbStore({ dir, readOnly: true });
    say("open");
    for (let last: number | undefined; last !== 0; await turn()) {
      const key = `k${await store.head()}`;
      const value = (await store.get(key))?.value;
      if (value?.every((byte) => byte === value[0]) === false) say(`${key} is torn`);
      last = value?.length;
    }
    await store[Symbol.asyncDispose]();
    say("read");
  },

  /** Opens the store read-only. */
  async look() {
    const store = await lmdbStore({ dir, readOnly: true });
    say({ head: await store.head(), keys: (await store.range(everything)).entries.map(({ key }) => key) });
    await store[Symbol.asyncDispose]();
  },

  /** Reads in every possible way, and writes. */
  async use() {
    const store = await lmdbStore({ dir });
    const { entries, revision } = await store.range(everything);
    for (const { key } of entries) await store.get(key);
    for await (const batch of store.watch(everything, { after: 1 })) if (batch.revision === revision) break;
    for (const { key } of entries) await put(store, key, 100);
    say({ revision, values: entries.map(({ key, value }) => `${key}=${value}`) });
    await store[Symbol.asyncDispose]();
  },

  /** Writes until the disk is full, frees space, and continues. The disk is the directory above the store's. */
  async fill() {
    const ballast = join(dirname(dir), "ballast");
    writeFileSync(ballast, Buffer.alloc(4 * 2 ** 20));
    const store = await lmdbStore({ dir });
    await fillUp(store);
    rmSync(ballast);
    say({ after: await put(store, "after", 50_000) });
    await store[Symbol.asyncDispose]();
    const reopened = await lmdbStore({ dir });
    say({
      reopened: await reopened.head(),
      found: (await reopened.range(everything)).entries.length,
      left: readdirSync(dir),
    });
    await reopened[Symbol.asyncDispose]();
  },

  /** Writes until writes fail. */
  async overfill() {
    const store = await lmdbStore({ dir });
    await fillUp(store);
    await store[Symbol.asyncDispose]();
  },
};

try {
  await tasks[task]?.();
} catch (error) {
  if (!isStoreError(error)) throw error;
  say({ code: error.code, message: error.message });
  process.exitCode = 1;
}

async function fillUp(store: Store): Promise<void> {
  let count = 0;
  const full = await failure(async () => {
    for (;;) await put(store, `before/${count++}`, 50_000);
  });
  const head = await store.head();
  const { entries } = await store.range(everything);
  const again = await failure(() => put(store, "again", 50_000));
  say({ full, again, written: count - 1, head, found: entries.length });
}

async function put(store: Store, key: string, size: number): Promise<number> {
  const value = Buffer.alloc(size, key);
  return (await store.commit({ conditions: [], operations: [{ type: "put", key, value }] })).revision;
}

async function failure(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return error.code;
  }
  return undefined;
}
