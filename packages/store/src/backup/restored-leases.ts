import type { Lease, Store } from "../store.ts";
import { isStoreError } from "../store-error.ts";

/** The leases of a backup, granted anew when the first of their keys is put. */
export class RestoredLeases {
  readonly #store: Store;
  /** By their numbers, s. */
  readonly #remaining = new Map<number, number>();
  readonly #granted = new Map<number, Promise<Lease>>();

  constructor(store: Store) {
    this.#store = store;
  }

  add(number: number, remaining: number): void {
    this.#remaining.set(number, remaining);
  }

  /** Grants it, unless it is. */
  get(number: number): Promise<Lease> {
    const known = this.#granted.get(number);
    if (known !== undefined) return known;
    const lease = this.#store.grant(Math.max(1, this.#remaining.get(number) ?? 0));
    this.#granted.set(number, lease);
    return lease;
  }

  /** Does something with leases; those that are over by then are granted once more, for the keys still to come. */
  async using(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!isOver(error)) throw error;
      await this.#forgetOver();
      await action();
    }
  }

  async #forgetOver(): Promise<void> {
    for (const [number, lease] of this.#granted)
      try {
        await this.#store.renew(await lease);
      } catch (error) {
        if (!isOver(error)) throw error;
        this.#granted.delete(number);
      }
  }
}

const isOver = (error: unknown): boolean => isStoreError(error) && error.code === "LeaseNotFound";
