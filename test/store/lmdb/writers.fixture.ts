// Writes to a store as fast as possible with 64 writers, until it is killed. Prints each acknowledged transaction on a line:
// the revision and the change of each key.
import { argv, stdout } from "node:process";
import { type Entry, type Lease, lmdbStore, type Operation } from "@virtual-workspaces/store";
import { Random } from "../../_support/random.ts";
import { taggedValue, tagOf } from "./values.ts";

const WRITERS = 64;
/** Keys that all writers contend for. */
const SHARED = 20;
const OWN = 10;
/** Number of revisions to keep. */
const KEPT = 2000;

const [, , dir = "", round = ""] = argv;
const store = await lmdbStore({ dir });
/** Resolves when the line was written, since the reader may be slower. */
const say = (line: string) => new Promise((resolve) => stdout.write(`${line}\n`, resolve));
await say(`open ${await store.head()}`);

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
    if (outcome?.committed === true) await say(`${outcome.revision} ${operations.map(told).join(" ")}`);
  }
}

async function change(key: string, random: Random): Promise<Operation> {
  return (await changed(key, random)).operation;
}

/** Puts a key, or deletes an existing one. */
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

/** A lease may expire while it is in use. */
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
