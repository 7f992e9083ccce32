import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import {
  type CacheEvent,
  type CacheLease,
  type CacheListener,
  decodeObject,
  type Encoded,
  type ReadableCache,
} from "@virtual-workspaces/framework/storage";
import { OrderedList, type SortedObject } from "../order/ordered-list.ts";
import { compareBy, type FieldValue, type SortKey } from "../order/sort-key.ts";
import type { Field } from "../request/fields.ts";
import type { Matcher } from "../request/matcher.ts";
import type { Query } from "../request/query.ts";
import { inSlices, sortSteps } from "./time-slices.ts";

/** Source and content of an index. */
export interface QueryIndexOptions {
  /** Lease of the source's cache; the index releases it. */
  readonly lease: CacheLease;
  readonly query: Pick<Query, "sort" | "counts">;
  readonly matcher: Matcher;
  /** Logical cluster to read, `*` for all. */
  readonly cluster: string;
}

/** A change of the source, and the ranks of its object before and after; `undefined` where it is not in the index. */
export interface IndexChange {
  readonly event: CacheEvent;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Receives every change of an index synchronously, in order. Must not throw. */
export interface IndexListener {
  changed(change: IndexChange): void;
  /** Called on a new version of the source without changes. */
  advanced(): void;
  /** Called when the index can no longer follow its source. */
  expired(message: string, rejected: boolean): void;
}

/** Most CPU time for building an index, in milliseconds. */
const MOST_CPU = 20_000;
/** Number of past changes that {@link QueryIndex.at} undoes at most. Each may parse two objects. */
const MOST_UNDONE = 1000;
/** An object in the index, with the values that are counted. */
interface Entry extends SortedObject<SortKey> {
  readonly counted: readonly FieldValue[];
}

/**
 * Objects of a source that match a query, sorted, with counts. It follows the source's cache. Memory: the encoded objects are
 * the cache's own; the index adds some 50 bytes and the sort key for each.
 */
export class QueryIndex implements CacheListener, Disposable {
  /** Cache of the source. */
  readonly cache: ReadableCache;
  /** Resolves when the index is complete. */
  readonly built: Promise<void>;
  readonly #options: QueryIndexOptions;
  readonly #counts: ReadonlyMap<string, { readonly field: Field; readonly counts: ValueCounts }>;
  readonly #listeners = new Set<IndexListener>();
  readonly #listening: Disposable;
  readonly #over = new AbortController();
  #order: OrderedList<SortKey>;
  /** Changes that arrived while the index was built. */
  #waiting: CacheEvent[] | undefined = [];
  #failure: ApiError | undefined;
  /** Version of the source that the index shows. */
  version: string;

  constructor(options: QueryIndexOptions) {
    this.#options = options;
    const { lease, query } = options;
    this.cache = lease.cache;
    this.#order = new OrderedList(compareBy(query.sort.map(({ descending }) => descending)));
    this.#counts = new Map([...query.counts].map(([text, field]) => [text, { field, counts: new ValueCounts() }]));
    this.version = lease.cache.head;
    this.#listening = lease.cache.listen(this);
    this.built = this.#build();
    this.built.catch(() => undefined); // every reader gets the error
  }

  /** The sorted objects. */
  get order(): OrderedList<SortKey> {
    return this.#order;
  }

  /** Whether the index no longer follows its source. */
  get isOver(): boolean {
    return this.#failure !== undefined || this.#over.signal.aborted;
  }

  /** Error of the filter on some object. */
  get filterFailure(): string | undefined {
    return this.#options.matcher.failure;
  }

  /** Resolves when the index is no staler than its source was at the time of the call. */
  get confirm(): CacheLease["confirm"] {
    return this.#options.lease.confirm;
  }

  /** Returns the number of objects for each value of the counted fields, by the fields' texts. */
  counted(): Readonly<Record<string, CountedValues>> {
    return Object.fromEntries([...this.#counts].map(([text, { counts }]) => [text, counts.values()]));
  }

  /** Returns the sort key of an object. */
  keyOf(object: Encoded): SortKey {
    return this.#keyOf(object, lazily(object));
  }

  /**
   * Returns the objects in order at an earlier version.
   *
   * @returns `undefined` when the source's history, or the number of changes to undo, does not allow it
   */
  at(version: string): { readonly order: OrderedList<SortKey>; readonly next: number } | undefined {
    const { cache } = this;
    const next = cache.position(version);
    if (typeof next === "string" || cache.next - next > MOST_UNDONE) return undefined;
    const order = this.#order.clone();
    for (let position = cache.next - 1; position >= next; position--) {
      const { object, previous } = cache.event(position);
      this.move(order, object, previous);
    }
    return { order, next };
  }

  /** Replaces an object by another state of it in a copy of {@link order}. @returns the ranks of both, where they are in it */
  move(
    order: OrderedList<SortKey>,
    from: Encoded | undefined,
    to: Encoded | undefined,
  ): { readonly before: number | undefined; readonly after: number | undefined } {
    const before = from && this.#entry(from);
    const after = to && this.#entry(to);
    return { before: before && order.remove(before), after: after && order.insert(after) };
  }

  listen(listener: IndexListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  event(event: CacheEvent): void {
    if (this.isOver) return;
    if (this.#waiting === undefined) this.#apply(event);
    else this.#waiting.push(event);
  }

  advanced(): void {
    if (this.#waiting !== undefined || this.isOver) return;
    this.version = this.cache.head;
    for (const listener of this.#listeners) listener.advanced();
  }

  expired(message: string, rejected: boolean): void {
    if (this.isOver) return;
    this.#failure = ApiError.expired(message);
    for (const listener of [...this.#listeners]) listener.expired(message, rejected);
  }

  /** Ends the index; watches on it end with 410. */
  [Symbol.dispose](): void {
    if (this.#over.signal.aborted) return;
    this.expired("the index of this query was dropped: list again", false);
    this.#over.abort();
    this.#listening[Symbol.dispose]();
    this.#options.lease[Symbol.dispose]();
  }

  async #build(): Promise<void> {
    const error = (): Error =>
      ApiError.badRequest("the query takes too long: select fewer objects by labelSelector, or use a simpler filter");
    await inSlices(this.#buildSteps(), { signal: this.#over.signal, cpu: MOST_CPU, error });
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const event of waiting) this.#apply(event);
    this.version = this.cache.head;
  }

  *#buildSteps(): Generator<undefined> {
    const { cluster } = this.#options;
    const { objects } = this.cache.snapshot();
    const prefix = cluster === "*" || cluster === "" ? "" : `${cluster}/`;
    const found: SortedObject<SortKey>[] = [];
    let seen = 0;
    for (const [text, object] of objects.entries(prefix)) {
      if (!text.startsWith(prefix)) break;
      const entry = this.#entry(object);
      if (entry !== undefined) {
        found.push({ key: entry.key, object: entry.object });
        this.#count(entry, 1);
      }
      seen += 1;
      if (seen % 64 === 0) yield;
    }
    const compare = compareBy(this.#options.query.sort.map(({ descending }) => descending));
    this.#order = new OrderedList(compare, yield* sortSteps(found, compare));
  }

  #apply(event: CacheEvent): void {
    const { object, previous } = event;
    const before = previous && this.#entry(previous);
    const after = object && this.#entry(object);
    const left = before && this.#order.remove(before);
    if (left === -1) {
      this.expired("the order of this query is no longer certain: list again", false);
      return;
    }
    const entered = after && this.#order.insert(after);
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
    this.version = event.version;
    for (const listener of this.#listeners) listener.changed({ event, before: left, after: entered });
  }

  #entry(object: Encoded): Entry | undefined {
    const parsed = lazily(object);
    if (!this.#options.matcher.matches(object, parsed)) return undefined;
    const counted = [...this.#counts.values()].map(({ field }) => readField(field, object, parsed));
    return { key: this.#keyOf(object, parsed), object, counted };
  }

  #keyOf(object: Encoded, parsed: () => KubeObject): SortKey {
    const { sort } = this.#options.query;
    if (sort.length === 0) return undefined;
    const values = sort.map(({ field }) => readField(field, object, parsed));
    return values.length === 1 ? values[0] : values;
  }

  #count({ counted }: Entry, by: 1 | -1): void {
    let at = 0;
    for (const { counts } of this.#counts.values()) {
      if (by === 1) counts.add(counted[at]);
      else counts.remove(counted[at]);
      at += 1;
    }
  }
}

function readField({ ofEncoded, read }: Field, object: Encoded, parsed: () => KubeObject): FieldValue {
  return ofEncoded === undefined ? read(parsed()) : ofEncoded(object);
}

function lazily(object: Encoded): () => KubeObject {
  let parsed: KubeObject | undefined;
  return () => {
    parsed ??= decodeObject(object);
    return parsed;
  };
}

/** Maximum number of values that are counted each; further ones are counted together. */
const MOST_VALUES = 1000;

/** Number of objects for each value of a field. */
export interface CountedValues {
  /** Values and their numbers of objects, most frequent first. A missing value is null. */
  readonly values: readonly { readonly value: string | number | null; readonly count: number }[];
  /** Number of objects with other values than the first 1,000. */
  readonly others: number;
}

/** Counts the values of a field. Memory: at most 1,000 values. */
class ValueCounts {
  readonly #counts = new Map<FieldValue, number>();
  #others = 0;

  add(value: FieldValue): void {
    const count = this.#counts.get(value);
    // Once values are counted together, a new one joins them: which of them it was is not known.
    if (count === undefined && (this.#others > 0 || this.#counts.size >= MOST_VALUES)) this.#others += 1;
    else this.#counts.set(value, (count ?? 0) + 1);
  }

  remove(value: FieldValue): void {
    const count = this.#counts.get(value);
    if (count === undefined) this.#others -= 1;
    else if (count > 1 || this.#others > 0) this.#counts.set(value, count - 1);
    else this.#counts.delete(value);
  }

  values(): CountedValues {
    const values = [...this.#counts]
      .filter(([, count]) => count > 0)
      .sort(([value, count], [other, otherCount]) => otherCount - count || (String(value) < String(other) ? -1 : 1))
      .map(([value, count]) => ({ value: typeof value === "bigint" ? Number(value) : (value ?? null), count }));
    return { values, others: this.#others };
  }
}
