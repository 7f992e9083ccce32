import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";

/** Where the stores' users agree who compacts (Kubernetes' `compact_rev_key`): up to which revision it was done. */
const KEY = "~history";

/** How much history a store keeps. */
export interface KeepHistoryOptions {
  /**
   * How long a revision can be read and resumed from, s: clients that were away for longer begin anew. It counts from
   * when this was called, for what is older. @default 300, as Kubernetes' apiserver with etcd
   */
  readonly age?: number;
  /** The most revisions that are kept, however young: a flood of writes does not fill the disk. @default 250_000 */
  readonly revisions?: number;
  /** How often the bounds are looked after, s: the history exceeds them by what happens meanwhile. @default 10 */
  readonly interval?: number;
  /** Hears of failures; the next look tries again. @default they are ignored */
  readonly onError?: (error: unknown) => void;
}

/**
 * Compacts a store by age and by size until it is disposed of or the store is closed. Of several processes on one store
 * one does it at a time, and any may die; the smallest of their bounds counts. They agree in the key `~history`.
 *
 * @throws StoreError `Invalid` for bounds that are not above zero
 */
export function keepHistory(store: Store, options: KeepHistoryOptions = {}): Disposable {
  const { age = 300, revisions = 250_000, interval = 10, onError } = options;
  for (const [name, value] of Object.entries({ age, revisions, interval }))
    if (!(value > 0)) throw new StoreError("Invalid", `the ${name} of a history is ${value}: it must be above zero`);
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

/** The bounds of a history. */
export interface HistoryBounds {
  /** s */
  readonly age: number;
  readonly revisions: number;
  /** s, by a clock that does not go back */
  now(): number;
}

interface Sample {
  readonly at: number;
  readonly revision: number;
}

/** Compacts a store, step by step, beside any number of others that do the same to it. */
export class HistoryKeeper {
  readonly #store: Store;
  readonly #bounds: HistoryBounds;
  /** What the newest revision was, and when; the first is the newest of those that are old enough. */
  #samples: Sample[] = [];
  /** Up to where this one said that it would compact, and has not yet. */
  #owed: number | undefined;

  constructor(store: Store, bounds: HistoryBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** Looks once, and compacts what is out of bounds unless another one does. @throws StoreError of the store */
  async step(): Promise<void> {
    const head = await this.#store.head();
    if (head < (this.#samples.at(-1)?.revision ?? 0)) this.#forget();
    await this.#pay();
    const target = this.#target(head);
    if (target < 1) return;
    const entry = await this.#store.get(KEY);
    const noted = entry === undefined ? 0 : revisionOf(entry.value);
    const done = noted > head ? 0 : noted; // one of the future is of another history, which this store had once
    if (target <= done + 1) return; // done, or there is nothing but the note that it was
    const value = Buffer.from(JSON.stringify({ revision: target }));
    try {
      const outcome = await this.#store.commit({
        conditions: [{ key: KEY, modRevision: entry?.modRevision ?? 0 }],
        operations: [{ type: "put", key: KEY, value }],
      });
      if (!outcome.committed) return; // another one was faster
    } catch (error) {
      // Without space nobody can make a note, and compaction is what makes room. It does no harm done twice.
      if (!isStoreError(error) || (error.code !== "NoSpace" && error.code !== "Unknown")) throw error;
    }
    this.#owed = target;
    await this.#pay();
  }

  /** The newest revision that is out of bounds. */
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

  /** The store was replaced by another one, or restored: what is known of it is of a history that is no more. */
  #forget(): void {
    this.#samples = [];
    this.#owed = undefined;
  }
}

/** What a note says; one that nobody can read says nothing. */
function revisionOf(note: Buffer): number {
  try {
    const { revision }: { revision?: unknown } = JSON.parse(note.toString());
    return Number.isSafeInteger(revision) ? Number(revision) : 0;
  } catch {
    return 0;
  }
}
