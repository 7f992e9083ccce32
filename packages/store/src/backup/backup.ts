import { everything } from "../engine/everything.ts";
import { pages } from "../engine/pages.ts";
import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { BackupWriter } from "./backup-writer.ts";
import type { BackupInfo } from "./header.ts";
import { encodeRecord } from "./records.ts";

/** How often it begins again when the history is compacted before it is done. */
const ATTEMPTS = 5;

/** How a backup is made. */
export interface BackupOptions {
  /** Gives it up; nothing stays. */
  readonly signal?: AbortSignal;
}

/**
 * Writes everything that stands in a store at one revision to a file, whatever the engine, while others read and write
 * the store. Takes a few MiB of memory. Keys with a lease keep what is left of its time when they are read.
 *
 * The file appears under its name when it is whole and on disk, in place of a regular file that is there; until then it is
 * called `<file>.<uuid>.partial`. Only its owner may read it, since it holds whatever the store does, secrets too. When the
 * history is compacted beyond the revision meanwhile, it begins again at a newer one.
 *
 * For etcd it is one more way beside etcd's own snapshots, from which alone an etcd can be restored.
 *
 * @throws StoreError `Compacted` when the history is too short for it time after time, `NoSpace` and `ReadOnly` of the
 * file, `Invalid` when there is no such folder or the name is that of a link, a device or the like, and those of the store
 */
export async function backup(store: Store, file: string, options: BackupOptions = {}): Promise<BackupInfo> {
  for (let attempt = 1; ; attempt++)
    try {
      return await write(store, file, options);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Compacted") throw error;
      if (attempt < ATTEMPTS) continue;
      const remedy = "keep it for longer (age, revisions)";
      const message = `the history is compacted before a backup of ${store.name} is done: ${remedy}`;
      throw new StoreError("Compacted", message, { cause: error });
    }
}

async function write(store: Store, file: string, { signal }: BackupOptions): Promise<BackupInfo> {
  await using writer = await BackupWriter.open(file);
  const time = new Date().toISOString();
  const revision = await store.head();
  const leases = new Map<string, number>();
  let count = 0;
  for await (const { entries } of pages(store, everything, { revision, signal })) {
    const pieces: Buffer[] = [];
    for (const { key, value, lease } of entries) {
      if (lease !== undefined && !leases.has(lease)) {
        leases.set(lease, leases.size + 1);
        pieces.push(...encodeRecord({ type: "lease", lease: leases.size, remaining: await remaining(store, lease) }));
      }
      const number = lease === undefined ? undefined : leases.get(lease);
      pieces.push(...encodeRecord({ type: "entry", key, value, lease: number }));
    }
    count += entries.length;
    await writer.write(pieces);
  }
  return await writer.finish({ revision, engine: store.name, time, count });
}

/** What is left of a lease, s: none when it ended since its key was read. */
async function remaining(store: Store, id: string): Promise<number> {
  try {
    return await store.remaining(id);
  } catch (error) {
    if (isStoreError(error) && error.code === "LeaseNotFound") return 0;
    throw error;
  }
}
