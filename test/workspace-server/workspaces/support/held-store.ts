// A store as a process has it that stands still before a write, for as long as others take, and may be killed after it.
import { type Outcome, type Store, StoreError, type Transaction } from "@virtual-workspaces/store";

/** When it stands still, and when it ends. */
export interface Halt {
  /** How many writes are done before the one that waits. Others go on meanwhile. */
  readonly before: number;
  /** How many are done once it is let go, itself first. */
  readonly after: number;
}

/** A store of which one write waits until it is let go. */
export class HeldStore {
  readonly store: Store;
  readonly #held = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();
  #left: number;
  #after = Number.POSITIVE_INFINITY;
  readonly #halt: Halt;

  constructor(store: Store, halt: Halt) {
    this.#halt = halt;
    this.#left = halt.before;
    const commit = async (transaction: Transaction): Promise<Outcome> => {
      if (this.#left-- !== 0) return this.#write(store, transaction);
      this.#held.resolve();
      await this.#released.promise;
      return this.#write(store, transaction).finally(this.#over.resolve);
    };
    this.store = new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return commit;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** Resolves when the write waits. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  /** Lets it go. Resolves when it is done, or has failed. */
  release(): Promise<void> {
    this.#after = this.#halt.after;
    this.#released.resolve();
    return this.#over.promise;
  }

  async #write(store: Store, transaction: Transaction): Promise<Outcome> {
    if (this.#after-- <= 0) throw new StoreError("Unavailable", "the process is gone");
    return store.commit(transaction);
  }
}
