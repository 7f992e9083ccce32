// A store of a process that is killed between two writes: later writes are not done.
import { type Outcome, type Store, StoreError, type Transaction } from "@virtual-workspaces/store";

/** A store that stops after a number of writes. */
export class DyingStore {
  readonly store: Store;
  readonly #dead = Promise.withResolvers<void>();
  #left: number;
  #alive = true;

  /** @param writes number of writes that are done. @default all, until {@link allow} */
  constructor(store: Store, writes: number = Number.POSITIVE_INFINITY) {
    this.#left = writes;
    const commit = async (transaction: Transaction): Promise<Outcome> => {
      if (!this.#alive || this.#left === 0) {
        this.die();
        throw new StoreError("Unavailable", "the process is gone");
      }
      this.#left--;
      return store.commit(transaction);
    };
    this.store = new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return commit;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** Resolves at the first write that is not done. */
  get dead(): Promise<void> {
    return this.#dead.promise;
  }

  get isDead(): boolean {
    return !this.#alive;
  }

  /** Sets the number of writes that are done from now on. */
  allow(writes: number): void {
    this.#left = writes;
  }

  die(): void {
    this.#alive = false;
    this.#dead.resolve();
  }
}
