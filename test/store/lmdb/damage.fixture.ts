// Damages copies of a store on LMDB and uses them. Prints the result of each: `whole`, the code of an error, or the fault.
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { isStoreError, lmdbStore, type Operation, type Store } from "@virtual-workspaces/store";
import { Random } from "../../_support/random.ts";

const [, , kind = "", count = "", folder = ""] = argv;
const everything = { from: "", to: "\u{10FFFF}" };
const KEYS = 3000;

const original = join(folder, "original");
const copy = join(folder, "copy");
const data = join(copy, "store", "data.mdb");
const { bytes, revision } = await make();

for (let seed = 0; seed < Number(count); seed++) {
  cpSync(original, copy, { recursive: true });
  damage(new Random(seed), seed);
  console.log(JSON.stringify(await outcome()));
  rmSync(copy, { recursive: true });
}

/** Creates a store with large and small values, some overwritten, some deleted. */
async function make(): Promise<{ bytes: Buffer; revision: number }> {
  const store = await lmdbStore({ dir: original });
  for (let at = 0; at < KEYS + 1000; at += 100) {
    const operation = (index: number): Operation => {
      const key = `key/${index % KEYS}`;
      return { type: "put", key, value: valueAt(index % KEYS, index) };
    };
    await commit(
      store,
      Array.from({ length: 100 }, (_, index) => operation(at + index)),
    );
  }
  for (let at = 0; at < KEYS; at += 30) await commit(store, [{ type: "delete", key: `key/${at}` }]);
  const revision = await store.head();
  await store[Symbol.asyncDispose]();
  return { bytes: readFileSync(join(original, "store", "data.mdb")), revision };
}

function damage(random: Random, seed: number): void {
  if (kind === "cut") {
    truncateSync(data, Math.floor((bytes.length * seed) / Number(count)) + random.below(2) * 2048);
    return;
  }
  const damaged = Buffer.from(bytes);
  for (let flip = random.below(6); flip >= 0; flip--) {
    const at = random.below(bytes.length);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
  }
  if (random.chance(0.3)) {
    const at = random.below(bytes.length - 512);
    for (let offset = 0; offset < 512; offset++) damaged[at + offset] = random.below(256);
  }
  writeFileSync(data, damaged);
}

/** Reads in every way, and writes. */
async function outcome(): Promise<string> {
  try {
    const store = await lmdbStore({ dir: copy });
    try {
      return await use(store);
    } finally {
      await store[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return error.code;
  }
}

async function use(store: Store): Promise<string> {
  if ((await store.head()) !== revision) return "another revision";
  const { entries } = await store.range(everything);
  if (entries.length !== KEYS - KEYS / 30) return `${entries.length} keys`;
  for (const { key, value } of entries) {
    if (!isTrue(key, value)) return `another value at ${key}`;
    const entry = await store.get(key);
    if (entry === undefined || !isTrue(key, entry.value)) return `no value at ${key}`;
  }
  let next = 2;
  for await (const batch of store.watch(everything, { after: 1, previous: true })) {
    if (batch.revision !== next++) return `no revision ${next - 1}`;
    if (batch.revision === revision) break;
  }
  for (const { key } of entries.slice(0, 50)) await commit(store, [{ type: "put", key, value: Buffer.alloc(10) }]);
  await store.compact(await store.head());
  return "whole";
}

async function commit(store: Store, operations: Operation[]): Promise<void> {
  await store.commit({ conditions: [], operations });
}

function valueAt(index: number, time: number): Buffer {
  return Buffer.alloc(index % 40 === 0 ? 5000 : 60, `${index} ${time};`);
}

function isTrue(key: string, value: Buffer): boolean {
  const index = Number(key.slice("key/".length));
  return value.equals(valueAt(index, index < 1000 ? index + KEYS : index));
}
