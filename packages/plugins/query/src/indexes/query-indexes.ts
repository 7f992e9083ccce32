import { ApiError } from "@virtual-workspaces/apimachinery";
import type { CacheLease, ReadableCache } from "@virtual-workspaces/framework/storage";
import { QueryIndex, type QueryIndexOptions } from "./query-index.ts";

/** Limits of {@link QueryIndexes}. */
export interface QueryIndexesOptions {
  /** Maximum number of indexes. The one that has been idle longest makes room; with no idle one, further queries get 429. */
  readonly most: number;
  /** How long an index stays after its last reader, in ms. */
  readonly linger: number;
}

/** Identification of an index. */
export interface IndexName {
  /** Text that is equal for queries with the same objects in the same order. */
  readonly key: string;
  /** User who requests the query. */
  readonly owner: string;
}

interface Held {
  readonly owner: string;
  readonly index: QueryIndex;
  readonly drop: () => void;
  holders: number;
  idle: NodeJS.Timeout | undefined;
}

/** A share in an index. The holder releases it exactly once. */
export interface IndexLease extends Disposable {
  readonly index: QueryIndex;
}

/** All indexes of a view, shared by requests with equal queries and equal rights, and dropped when idle. */
export class QueryIndexes implements Disposable {
  readonly #options: QueryIndexesOptions;
  readonly #byCache = new WeakMap<ReadableCache, Map<string, Held>>();
  /** All indexes; those without a reader in the order in which they lost it. */
  readonly #all = new Set<Held>();

  constructor(options: QueryIndexesOptions) {
    this.#options = options;
  }

  /** Number of indexes. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Leases the index of a query, once it is complete.
   *
   * @param source lease of the source's cache, which the index takes over or releases
   * @throws ApiError 429 when there are too many, or too many of this user; 400 when the query takes too long
   */
  async lease(
    source: CacheLease,
    name: IndexName,
    options: () => Omit<QueryIndexOptions, "lease">,
  ): Promise<IndexLease> {
    const held = this.#held(source, name, options);
    held.holders += 1;
    clearTimeout(held.idle);
    let isOpen = true;
    const release = (): void => {
      if (isOpen) this.#release(held);
      isOpen = false;
    };
    try {
      await held.index.built;
      return { index: held.index, [Symbol.dispose]: release };
    } catch (error) {
      held.drop();
      release();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const held of [...this.#all]) held.drop();
  }

  #held(source: CacheLease, { key, owner }: IndexName, options: () => Omit<QueryIndexOptions, "lease">): Held {
    const ofCache = this.#byCache.get(source.cache) ?? new Map<string, Held>();
    this.#byCache.set(source.cache, ofCache);
    const known = ofCache.get(key);
    if (known !== undefined && !known.index.isOver) {
      source[Symbol.dispose]();
      return known;
    }
    known?.drop();
    try {
      this.#makeRoom(owner);
      const index = new QueryIndex({ ...options(), lease: source });
      const drop = (): void => {
        if (ofCache.get(key) === held) ofCache.delete(key);
        clearTimeout(held.idle);
        this.#all.delete(held);
        index[Symbol.dispose]();
      };
      const held: Held = { owner, index, drop, holders: 0, idle: undefined };
      ofCache.set(key, held);
      this.#all.add(held);
      return held;
    } catch (error) {
      source[Symbol.dispose]();
      throw error;
    }
  }

  /** Security: one user cannot take the indexes of all others. */
  #makeRoom(owner: string): void {
    const { most } = this.#options;
    const own = [...this.#all].filter((held) => held.owner === owner && held.holders > 0).length;
    const mostOwn = Math.ceil(most / 4);
    if (own >= mostOwn)
      throw ApiError.tooManyRequests(`too many different queries of this user are open: at most ${mostOwn}`, 10);
    if (this.#all.size < most) return;
    for (const held of this.#all) {
      if (held.holders > 0) continue;
      held.drop();
      return;
    }
    throw ApiError.tooManyRequests(`too many different queries are open: at most ${this.#options.most}`, 10);
  }

  #release(held: Held): void {
    held.holders -= 1;
    if (held.holders > 0 || !this.#all.delete(held)) return;
    this.#all.add(held);
    held.idle = setTimeout(held.drop, this.#options.linger).unref();
  }
}
