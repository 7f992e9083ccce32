// Why: a million creates take minutes. Here the registry keeps one object, and the store gets copies of what it made of it.
import { randomBytes } from "node:crypto";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Entry, Operation, Store } from "@virtual-workspaces/store";
import { keyOf, nameOf, type StoredKind } from "./stored-kinds.ts";

/** Operations that wait for the disk together. */
const TOGETHER = 2048;

export interface Filling {
  readonly kind: StoredKind;
  readonly count: number;
  /** So many objects take turns in being written, each time by a transaction of its own. @default each is new */
  readonly turns?: number;
}

/** What a transaction may have. */
const OPERATIONS = 128;

/**
 * Writes copies of the only object there is of a kind, which goes. Each differs in name, uid, and what it says as `spec.n`.
 *
 * @returns the revision before them
 */
export async function copies(store: Store, sample: KubeObject, { kind, count, turns }: Filling): Promise<number> {
  const original = await store.get(keyOf(kind, sample.metadata.name ?? ""));
  if (original === undefined) throw new Error(`there is no ${kind}`);
  const copy = copier(original, sample);
  const { revision } = await store.commit({ conditions: [], operations: [{ type: "delete", key: original.key }] });
  const size = turns === undefined ? OPERATIONS : 1;
  for (let at = 0; at < count; ) {
    const commits: Promise<unknown>[] = [];
    for (const together = Math.min(at + TOGETHER, count); at < together; ) {
      const operations: Operation[] = [];
      for (const end = Math.min(at + size, together); at < end; at++)
        operations.push({ type: "put", ...copy(at, at % (turns ?? count)) });
      commits.push(store.commit({ conditions: [], operations }));
    }
    await Promise.all(commits);
  }
  return revision;
}

/** All of one length, so that what says how long something is holds for each. */
function copier(
  { key, value }: Entry,
  { metadata }: KubeObject,
): (n: number, name: number) => Pick<Entry, "key" | "value"> {
  const text = value.toString("latin1");
  const { name = "", uid = "" } = metadata;
  const run = randomBytes(2).toString("hex");
  return (n, at) => {
    const own = nameOf(at);
    const ownUid = `${uid.slice(0, 24)}${run}${at.toString(16).padStart(8, "0")}`;
    const copied = text
      .replaceAll(uid, ownUid)
      .replace(`"name":"${name}"`, `"name":"${own}"`)
      .replace('"n":1000000', `"n":${1_000_000 + n}`);
    return { key: key.slice(0, -name.length) + own, value: Buffer.from(copied, "latin1") };
  };
}
