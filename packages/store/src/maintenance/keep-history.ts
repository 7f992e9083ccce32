import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";

/** Key in which processes coordinate compaction (Kubernetes' `compact_rev_key`): the last compacted revision. */
const KEY = "~history";

/** Bounds of a store's history. */
export interface KeepHistoryOptions {
  /**
   * Time for which watches can resume from a revision, in seconds: clients that were away longer must list again. For earlier
   * revisions it starts with this call.
   * @default 300, as kube-apiserver with etcd
   */
  readonly age?: number;
  /** Maximum number of revisions, however recent, so that a burst of writes does not fill the disk. @default 250_000 */
  readonly revisions?: number;
  /** Interval of checks, in seconds. The history may exceed its bounds in between. @default 10 */
  readonly interval?: number;
  /** Called for failures; the next check retries. @default failures are ignored */
  readonly onError?: (error: unknown) => void;
}

/**
 * Compacts a store by age and size until it is disposed or the store closes. Of several processes with one store, one
 * compacts at a time, and any may fail; the smallest bounds apply. They coordinate through the key `~history`.
 *
 * @throws StoreError `Invalid` for bounds that are not positive
 */
export function keepHistory(store: Store, options: KeepHistoryOptions = {}): Disposable {
  const { age = 300, revisions = 250_000, interval = 10, onError } = options;
  for (const [name, value] of Object.entries({ age, revisions, interval }))
    if (!(value > 0))
      throw new StoreError("Invalid", `invalid ${name} of a history "${value}": use a number above zero`);
  const keeper = new HistoryKeeper(store, { age, revisions, now: () => performance.now() / 1000 });
  let timer: NodeJS.Timeout | undefined;
  let disposed = false;
  const again = (): void => {
    if (!disposed) timer = setTimeout(look, interval * 1000).unref();
  };
  const look = (): void => {
    keeper.step().then(again, (error: unknown) => {
      if (isStoreError(error) && error.code === "Closed") return;
      onError?.(error);
      again();
    });
  };
  look();
  return {
    [Symbol.dispose]: () => {
      disposed = true;
      clearTimeout(timer);
    },
  };
}

/** Bounds of a history. */
export interface HistoryBounds {
  /** Maximum age, in seconds. */
  readonly age: number;
  readonly revisions: number;
  /** Monotonic clock, in seconds. */
  now(): number;
}

interface Sample {
  readonly at: number;
  readonly revision: number;
}

/** Compacts a store step by step, together with any number of others. */
export class HistoryKeeper {
  readonly #store: Store;
  readonly #bounds: HistoryBounds;
  /** Newest revisions over time; the first is the most recent of those older than `age`. */
  #samples: Sample[] = [];
  /** Revision that this process has announced and not yet compacted. */
  #owed: number | undefined;

  constructor(store: Store, bounds: HistoryBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** Checks the bounds once, and compacts unless another process does. @throws StoreError of the store */
  async step(): Promise<void> {
    const head = await this.#store.head();
    if (head < (this.#samples.at(-1)?.revision ?? 0)) this.#forget();
    await this.#pay();
    const target = this.#target(head);
    if (target < 1) return;
    const entry = await this.#store.get(KEY);
    const noted = entry === undefined ? 0 : revisionOf(entry.value);
    const done = noted > head ? 0 : noted; // a future revision belongs to an earlier history of this store
    if (target <= done + 1) return; // nothing to compact except the note itself
    const value = Buffer.from(JSON.stringify({ revision: target }));
    try {
      const outcome = await this.#store.commit({
        conditions: [{ key: KEY, modRevision: entry?.modRevision ?? 0 }],
        operations: [{ type: "put", key: KEY, value }],
      });
      if (!outcome.committed) return; // another process was faster
    } catch (error) {
      // Without space no note can be written, but compaction frees space. Compacting twice is harmless.
      if (!isStoreError(error) || (error.code !== "NoSpace" && error.code !== "Unknown")) throw error;
    }
    this.#owed = target;
    await this.#pay();
  }

  /** Returns the newest revision out of bounds. */
  #target(head: number): number {
    const { age, revisions, now } = this.#bounds;
    const at = now();
    this.#samples.push({ at, revision: head });
    const young = this.#samples.findIndex((sample) => sample.at > at - age);
    this.#samples = this.#samples.slice(Math.max(0, young - 1));
    const [oldest] = this.#samples;
    const tooOld = oldest !== undefined && oldest.at <= at - age ? oldest.revision : 0;
    return Math.max(tooOld, head - revisions);
  }

  async #pay(): Promise<void> {
    if (this.#owed === undefined) return;
    try {
      await this.#store.compact(this.#owed);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Future") throw error;
      this.#forget();
    }
    this.#owed = undefined;
  }

  /** Resets after the store was replaced or restored: the samples belong to its former history. */
  #forget(): void {
    this.#samples = [];
    this.#owed = undefined;
  }
}

/** Returns the revision of a note; 0 for an invalid one. */
function revisionOf(note: Buffer): number {
  try {
    const { revision }: { revision?: unknown } = JSON.parse(note.toString());
    return Number.isSafeInteger(revision) ? Number(revision) : 0;
  } catch {
    return 0;
  }
}
