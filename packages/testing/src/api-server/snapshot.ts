import { randomBytes, randomUUID } from "node:crypto";
import { type Operation, parseStoredKey, type Store } from "@virtual-workspaces/store";

/** Maximum of operations in a transaction of a store. */
const AT_ONCE = 128;

/** Every key of a store. */
const EVERYTHING = { from: "\0", to: "\u{10ffff}" };

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Returns a new name of a logical cluster. All have the same length, see {@link Snapshot}. */
export function newName(): string {
  return `test-${randomBytes(6).toString("hex")}`;
}

interface Kept {
  readonly key: string;
  /** Stored bytes, as Latin-1 text. */
  readonly value: string;
}

/**
 * Stored objects of a logical cluster, to copy them into others. Copies have their own name and uids, also where owner
 * references and keys contain these. Names and uids have one length each, so that no offset in a stored object changes.
 */
export class Snapshot {
  readonly #cluster: string;
  readonly #kept: readonly Kept[];
  readonly #uids: ReadonlySet<string>;

  private constructor(cluster: string, kept: readonly Kept[]) {
    this.#cluster = cluster;
    this.#kept = kept;
    this.#uids = new Set(kept.flatMap(({ value }) => UUID.exec(value)?.[0] ?? []));
  }

  /** Reads the objects of a logical cluster. @throws StoreError */
  static async of(store: Store, cluster: string): Promise<Snapshot> {
    const kept = await entriesOf(store, cluster);
    return new Snapshot(
      cluster,
      kept.map(({ key, value }) => ({ key, value: value.toString("latin1") })),
    );
  }

  /** Writes all objects into a new logical cluster. @returns its name @throws StoreError */
  async copy(store: Store): Promise<string> {
    const name = newName();
    const names = new Map(Array.from(this.#uids, (uid) => [uid, randomUUID() as string])).set(this.#cluster, name);
    const pattern = new RegExp(`${this.#cluster}|${UUID.source}`, "g");
    const renamed = (text: string): string => text.replace(pattern, (found) => names.get(found) ?? found);
    await commitAll(
      store,
      this.#kept.map(({ key, value }) => ({
        type: "put",
        key: renamed(key),
        value: Buffer.from(renamed(value), "latin1"),
      })),
    );
    return name;
  }
}

/** Deletes all objects of a logical cluster, despite finalizers. Watches receive the deletions. @throws StoreError */
export async function removeCluster(store: Store, cluster: string): Promise<void> {
  const entries = await entriesOf(store, cluster);
  await commitAll(
    store,
    entries.map(({ key }) => ({ type: "delete", key })),
  );
}

async function entriesOf(store: Store, cluster: string) {
  const { entries } = await store.range(EVERYTHING);
  return entries.filter(({ key }) => parseStoredKey(key)?.key.cluster === cluster);
}

async function commitAll(store: Store, operations: readonly Operation[]): Promise<void> {
  for (let at = 0; at < operations.length; at += AT_ONCE)
    await store.commit({ conditions: [], operations: operations.slice(at, at + AT_ONCE) });
}
