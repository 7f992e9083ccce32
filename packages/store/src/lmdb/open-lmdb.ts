import { resolve } from "node:path";
import { checkFirstRevision } from "../engine/limits.ts";
import type { Store } from "../store.ts";
import { faultOf } from "./faults.ts";

/** Maximum first revision: positions in the log hold revisions of 46 bits, half of which remain. */
const HIGHEST = 2 ** 45;

/** Options of {@link lmdbStore}. */
export interface LmdbStoreOptions {
  /** Directory for this store alone, on a local disk. A missing one is created, for this user only. */
  readonly dir: string;
  /**
   * Opens the store for reading only, also while another process writes, such as for backups. Writes and watches are
   * rejected.
   * @default false
   */
  readonly readOnly?: boolean;
  /** Time for another process to release the directory, in ms. @default 0 */
  readonly wait?: number;
  /**
   * First revision of a new store; earlier ones count as compacted. A restored store must continue above every revision that
   * was used before. Ignored for an existing store.
   * @default 1
   */
  readonly revision?: number;
}

/**
 * Opens a store on disk for one process. Acknowledged writes survive a crash of the process or the machine. One process at a
 * time may write; its lock ends with it, however it ends. Concurrent writers share the wait for the disk. Memory use is
 * small, since the file is mapped and counts as system cache.
 *
 * @throws StoreError `Invalid` if the revision is not an integer from 1 to 2^45, `Locked`, `Damaged`, `NewerFormat`,
 * `ReadOnly` or `NoSpace`; the message names the remedy
 *
 * @example
 * ```ts
 * import { keepHistory, lmdbStore } from "@virtual-workspaces/store";
 *
 * await using store = await lmdbStore({ dir: "data" });
 * using _history = keepHistory(store);
 * ```
 * @see docs/how-to/stores.md
 */
export async function lmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { dir, readOnly = false, wait = 0, revision } = options;
  if (revision !== undefined) checkFirstRevision(revision, HIGHEST);
  // Loaded on demand: other engines do not need LMDB.
  const [{ openFolder }, { LmdbStore }, { ReadOnlyStore }] = await Promise.all([
    import("./folder.ts"),
    import("./lmdb-store.ts"),
    import("./read-only-store.ts"),
  ]);
  const folder = await openFolder({ dir: resolve(dir), readOnly, wait, revision });
  try {
    return readOnly ? new ReadOnlyStore(folder) : new LmdbStore(folder);
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw faultOf(error, folder.dir);
  }
}
