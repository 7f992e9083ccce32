import { resolve } from "node:path";
import { checkFirstRevision } from "../engine/limits.ts";
import type { Store } from "../store.ts";
import { faultOf } from "./faults.ts";

/** To begin at: a position in the log is an integer with the revision in its upper 46 bits, and half of them are left. */
const HIGHEST = 2 ** 45;

/** Where a store on disk is, and how it is opened. */
export interface LmdbStoreOptions {
  /** A folder of its own, on a disk of this machine; made, for this user alone, where there is none. */
  readonly dir: string;
  /** Only to read, also beside the process that writes: for backups. Changes are refused, watches too. @default false */
  readonly readOnly?: boolean;
  /** How long another process may take to let go of the folder, ms. @default 0 */
  readonly wait?: number;
  /**
   * The revision that a new store begins at, all before it counting as compacted: what is restored from a backup must go
   * on above every revision that was given out before. Of no meaning where there is a store already. @default 1
   */
  readonly revision?: number;
}

/**
 * Opens a store on disk, the engine for one process: what is acknowledged survives the end of the process and of the
 * machine. One process at a time may write; its hold on the folder ends with it, however it ends. Writers that come
 * together share the wait for the disk. Costs little memory: the file is mapped, and counts as cache of the system.
 *
 * @throws StoreError `Invalid` when the revision is not an integer from 1 to 2^45, `Locked`, `Damaged`, `NewerFormat`, `ReadOnly` or `NoSpace`; the message names the remedy
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
  // Whoever keeps objects elsewhere need not wait for lmdb to load.
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
