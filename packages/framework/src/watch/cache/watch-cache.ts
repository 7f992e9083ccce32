import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { untilAborted } from "@virtual-workspaces/transport";
import SortedBTree from "sorted-btree";
import {
  CacheEvent,
  type CacheListener,
  type Objects,
  type Position,
  type ReadableCache,
  type Snapshot,
} from "./cache-event.ts";
import type { Encoded } from "./encoded.ts";
import type { Minter } from "./minter.ts";

/** Tree of the objects. A copy costs nothing until either side changes. */
interface Tree extends Objects {
  set(key: string, object: Encoded): unknown;
  delete(key: string): boolean;
  clone(): Tree;
}

// The package is CommonJS: its class is a property of the default export under Node, and that export itself elsewhere.
const module = SortedBTree as unknown as { readonly default?: unknown };
const BTree = (module.default ?? module) as new () => Tree;

/** Initial state of a cache. */
export interface CacheOptions {
  /** Version of the initial, empty state. */
  readonly version: string;
  /** Minter, if versions are assigned here and not by a source. Versions of other minters then count as expired. */
  readonly minter?: Minter;
  readonly history?: HistoryOptions;
}

/** Limits of the history, which resumed watches and exact lists read. */
export interface HistoryOptions {
  /** Maximum number of events. @default 4096 */
  readonly events?: number;
  /** Maximum size of replaced objects that only the history holds, in bytes. @default 16 MiB */
  readonly bytes?: number;
}

/**
 * State of one stream of objects, its version, and a bounded history (Kubernetes' watch cache). Memory: the encoded objects
 * and the history. A collection writes one, the hub fills one from a source, a view derives one.
 */
export class WatchCache implements ReadableCache {
  readonly #ring: Ring;
  readonly #minter: Minter | undefined;
  readonly #listeners = new Set<CacheListener>();
  readonly #waiters = new Set<() => void>();
  #objects: Tree = new BTree();
  #head: string;

  constructor(options: CacheOptions) {
    this.#head = options.version;
    this.#minter = options.minter;
    this.#ring = new Ring(options.version, options.history ?? {});
  }

  /** Version of the current state. */
  get head(): string {
    return this.#head;
  }

  /** Number of objects. */
  get size(): number {
    return this.#objects.size;
  }

  /** Returns the current object of a key. */
  get(key: ObjectKey): Encoded | undefined {
    return this.#objects.get(cacheKey(key));
  }

  /** Returns an immutable copy of the current state. */
  snapshot(): Snapshot {
    return { version: this.#head, next: this.#ring.next, objects: this.#objects.clone() };
  }

  /** Returns the state at `version`, reconstructed from the history, as long as the history reaches back. */
  at(version: string): Snapshot | "expired" | "ahead" {
    const next = this.position(version);
    if (typeof next === "string") return next;
    const objects = this.#objects.clone();
    for (let index = this.#ring.next - 1; index >= next; index--) {
      const { key, previous } = this.#ring.event(index);
      if (previous === undefined) objects.delete(cacheKey(key));
      else objects.set(cacheKey(key), previous);
    }
    return { version, next, objects };
  }

  /** Whether another minter issued a version, so that it cannot be compared with this cache's. */
  isForeign(version: string): boolean {
    return this.#minter !== undefined && !this.#minter.issued(version);
  }

  /** Returns the position at which a watch from `version` continues. */
  position(version: string): Position {
    if (this.isForeign(version)) return "expired";
    const next = this.#ring.position(version);
    if (next === this.#ring.next && !this.reached(version)) return "ahead";
    return next ?? "expired";
  }

  /** Whether the state is at least as new as `version`. */
  reached(version: string): boolean {
    return compareResourceVersions(version, this.#head) <= 0 || this.#minter?.issued(version) === true;
  }

  /** Resolves once `version` is reached. @throws ApiError 504 `ResourceVersionTooLarge` after `timeout` ms. */
  async reach(version: string, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<void> {
    if (this.reached(version)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (this.reached(version)) resolve();
    };
    const late = setTimeout(() => reject(ApiError.tooLargeResourceVersion(version, this.#head)), options.timeout);
    this.#waiters.add(check);
    try {
      await untilAborted(promise, options.signal);
    } finally {
      clearTimeout(late);
      this.#waiters.delete(check);
    }
  }

  /** Position of the oldest event in the history. */
  get first(): number {
    return this.#ring.first;
  }

  /** Position of the next event. */
  get next(): number {
    return this.#ring.next;
  }

  /** Returns the event at a position in the history. */
  event(position: number): CacheEvent {
    return this.#ring.event(position);
  }

  /** Stores an object under its key. @param version version of the change, above the head */
  set(object: Encoded, version: string = object.resourceVersion): void {
    const key = cacheKey(object.key);
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#push(new CacheEvent(version, object, previous));
  }

  /** Removes an object. Only advances the version when there is none. */
  delete(key: ObjectKey, version: string): void {
    const text = cacheKey(key);
    const previous = this.#objects.get(text);
    if (previous === undefined) {
      this.advance(version);
      return;
    }
    this.#objects.delete(text);
    this.#push(new CacheEvent(version, undefined, previous));
  }

  /** Advances to a version without changes. */
  advance(version: string): void {
    if (compareResourceVersions(version, this.#head) <= 0) return;
    this.#head = version;
    for (const listener of this.#listeners) listener.advanced?.();
    this.#wake();
  }

  /** Replaces the state without events: drops the history and ends open watches with 410. */
  reset(objects: Iterable<Encoded>, version: string, message: string): void {
    this.#replace(objects, version, (listener) => listener.expired(message, false));
  }

  /** Empties the cache of a source that rejects reading, without events, and ends open watches with 410. */
  reject(version: string, message: string): void {
    this.#replace([], version, (listener) => listener.expired(message, true));
  }

  /** Drops the events before a position, except the last `kept`. */
  forget(before: number, kept: number): void {
    this.#forget(Math.min(before, this.#ring.next - kept));
  }

  /** Calls a listener for every change from now on, until the result is disposed. */
  listen(listener: CacheListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #replace(objects: Iterable<Encoded>, version: string, tell: (listener: CacheListener) => void): void {
    this.#objects = new BTree();
    for (const object of objects) this.#objects.set(cacheKey(object.key), object);
    this.#head = version;
    this.#ring.clear(version);
    for (const listener of [...this.#listeners]) tell(listener);
    this.#wake();
  }

  #push(event: CacheEvent): void {
    this.#head = event.version;
    this.#ring.push(event);
    for (const listener of this.#listeners) listener.event(event);
    this.#forget(this.#ring.surplus);
    this.#wake();
  }

  #forget(before: number): void {
    if (before <= this.#ring.first) return;
    for (const listener of this.#listeners) listener.forgetting?.(before);
    this.#ring.forget(before);
  }

  #wake(): void {
    for (const check of this.#waiters) check();
  }
}

/** Recent events of a cache, limited in number and bytes. Positions count all events, including dropped ones. */
export class Ring {
  readonly #limit: number;
  /** One more than the limit: a new event is added while the oldest can still be read. */
  readonly #slots: number;
  readonly #byteLimit: number;
  #events: (CacheEvent | undefined)[] = [];
  /** Weight of each event when it was added: an object made on access may turn out longer or shorter. */
  #weights: number[] = [];
  #bytes = 0;
  /** Version after which all events are known. */
  #floor: string;
  first = 0;
  next = 0;

  constructor(floor: string, options: HistoryOptions) {
    this.#floor = floor;
    this.#limit = options.events ?? 4096;
    this.#slots = this.#limit + 1;
    this.#byteLimit = options.bytes ?? 16 * 2 ** 20;
  }

  event(position: number): CacheEvent {
    return this.#events[position % this.#slots] as CacheEvent;
  }

  /** Adds an event and drops none: readers must read up to {@link surplus} before {@link forget}. */
  push(event: CacheEvent): void {
    const weight = weightOf(event);
    this.#events[this.next % this.#slots] = event;
    this.#weights[this.next % this.#slots] = weight;
    this.#bytes += weight;
    this.next += 1;
  }

  /** Position before which events exceed the limits. */
  get surplus(): number {
    let position = this.first;
    let bytes = this.#bytes;
    while (this.next - position > this.#limit || (bytes > this.#byteLimit && this.next - position > 1)) {
      bytes -= this.#weight(position);
      position += 1;
    }
    return position;
  }

  /** Drops the events before a position. */
  forget(before: number): void {
    while (this.first < before) this.#evict();
  }

  clear(floor: string): void {
    this.#events = [];
    this.#weights = [];
    this.#bytes = 0;
    this.#floor = floor;
    this.first = this.next;
  }

  /** Returns the position of the first event after `version`; `undefined` when it was dropped. */
  position(version: string): number | undefined {
    if (compareResourceVersions(version, this.#floor) < 0) return undefined;
    let low = this.first;
    let high = this.next;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareResourceVersions(this.event(middle).version, version) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #weight(position: number): number {
    return this.#weights[position % this.#slots] ?? 0;
  }

  #evict(): void {
    const event = this.event(this.first);
    this.#floor = event.version;
    this.#bytes -= this.#weight(this.first);
    this.#events[this.first % this.#slots] = undefined;
    this.first += 1;
  }
}

/** Returns the memory that an event alone holds: the object that it replaced. */
function weightOf(event: CacheEvent): number {
  return event.previous?.length ?? event.previous?.bytes.length ?? 0;
}

/** Returns the key in a cache. Keys sort by logical cluster, namespace and name, as Kubernetes' storage keys do. */
export function cacheKey(key: ObjectKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}

/** Returns the object key from a {@link cacheKey}. */
export function keyOfText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

/**
 * Yields the objects of a logical cluster and namespace ("" for all of either), in order, after the key `after`. Reads no
 * others, except to find one namespace in all clusters.
 */
export function* objectsIn(objects: Objects, place: Omit<ObjectKey, "name">, after = ""): Generator<Encoded> {
  const prefix = prefixOf(place);
  for (const [key, object] of objects.entries(after > prefix ? after : prefix)) {
    if (!key.startsWith(prefix)) return;
    if (key !== after && (place.namespace === "" || object.key.namespace === place.namespace)) yield object;
  }
}

const ENOUGH = { break: true } as const;
/** Above every key. */
const LAST = "\uffff";

/**
 * Calls `visit` for the objects of {@link objectsIn} until it returns false. For large lists: takes half the time of an
 * iterator and makes no garbage, which would let the heap grow.
 */
export function visitIn(
  objects: Objects,
  range: Omit<ObjectKey, "name"> & { readonly after: string },
  visit: (object: Encoded) => boolean,
): void {
  const prefix = prefixOf(range);
  const { after, namespace } = range;
  objects.forRange(after > prefix ? after : prefix, prefix + LAST, true, (key, object) => {
    if (key === after || (namespace !== "" && object.key.namespace !== namespace)) return undefined;
    return visit(object) ? undefined : ENOUGH;
  });
}

function prefixOf({ cluster, namespace }: Omit<ObjectKey, "name">): string {
  if (cluster === "") return "";
  return namespace === "" ? `${cluster}/` : `${cluster}/${namespace}/`;
}
