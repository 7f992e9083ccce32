// Writes to a store as fast as it can, with 64 writers, until it is killed. Says on its output what was acknowledged, a
// line for each: the revision and what it did to each key.
import { writeSync } from "node:fs";
import { argv } from "node:process";
import { type Entry, type Lease, lmdbStore, type Operation } from "@virtual-workspaces/store";
import { Random } from "../../_support/random.ts";
import { tagOf, taggedValue } from "./values.ts";

const WRITERS = 64;
/** Keys that all of them fight for. */
const SHARED = 20;
const OWN = 10;
/** As much history as is kept. */
const KEPT = 2000;

const [, , dir = "", round = ""] = argv;
const store = await lmdbStore({ dir });
const say = (line: string): void => void writeSync(1, `${line}\n`);
say(`open ${await store.head()}`);

let count = 0;
let lease: Lease | undefined;

await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), compact(), grant()]);

async function write(writer: number): Promise<never> {
  const random = new Random(Number(round) * WRITERS + writer);
  for (;;) {
    const operations = [await change(`own/${writer}/${random.below(OWN)}`, random)];
    const conditions = [];
    if (random.chance(0.25)) {
      const key = `shared/${random.below(SHARED)}`;
      const { entry, operation } = await changed(key, random);
      conditions.push({ key, modRevision: entry?.modRevision ?? 0 });
      operations.push(operation);
    }
    if (lease !== undefined && random.chance(0.02)) operations.push({ ...put(`leased/${writer}`, random), lease });
    const outcome = await store.commit({ conditions, operations }).catch(unlessOver);
    if (outcome?.committed === true) say(`${outcome.revision} ${operations.map(told).join(" ")}`);
  }
}

async function change(key: string, random: Random): Promise<Operation> {
  return (await changed(key, random)).operation;
}

/** Puts a key or deletes one that is there. */
async function changed(key: string, random: Random): Promise<{ entry: Entry | undefined; operation: Operation }> {
  const entry = await store.get(key);
  const gone = entry !== undefined && random.chance(0.2);
  return { entry, operation: gone ? { type: "delete", key } : put(key, random) };
}

function put(key: string, random: Random): Operation & { type: "put" } {
  return { type: "put", key, value: taggedValue(key, `${round}.${count++}`, random.below(3000)) };
}

function told(operation: Operation): string {
  return `${operation.key}=${operation.type === "put" ? tagOf(operation.key, Buffer.from(operation.value)) : "-"}`;
}

/** A lease ends under those who use it. */
function unlessOver(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "LeaseNotFound") throw error;
  return undefined;
}

async function compact(): Promise<never> {
  for (;;) {
    const revision = (await store.head()) - KEPT;
    if (revision > 0) await store.compact(revision);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function grant(): Promise<never> {
  for (;;) {
    lease = await store.grant(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
