import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { HistoryKeeper } from "./keeper.ts";

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
