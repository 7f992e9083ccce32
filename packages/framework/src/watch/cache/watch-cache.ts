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

/** The tree behind it: a copy of one costs nothing until either side changes. */
interface Tree extends Objects {
  set(key: string, object: Encoded): unknown;
  delete(key: string): boolean;
  clone(): Tree;
}

// The package is CommonJS: its class arrives as a property of the default export under Node, as that export elsewhere.
const module = SortedBTree as unknown as { readonly default?: unknown };
const BTree = (module.default ?? module) as new () => Tree;

/** What a cache begins with. */
export interface CacheOptions {
  /** The version of the initial, empty state. */
  readonly version: string;
  /** Set where versions are minted here rather than by a source: a version of another minter is then expired. */
  readonly minter?: Minter;
  readonly history?: HistoryOptions;
}

/** Bounds of the history that resumed watches and exact lists read. */
export interface HistoryOptions {
  /** @default 4096 */
  readonly events?: number;
  /** Bytes of superseded objects held by the history alone. @default 16 MiB */
  readonly bytes?: number;
}

/**
 * The state of one stream of objects, its version, and a bounded history (Kubernetes' watch cache). Memory is the
 * encoded objects plus the history. A collection writes one, the hub fills one from a source, a view derives one.
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

  /** The version of the current state. */
  get head(): string {
    return this.#head;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#objects.size;
  }

  /** The object under a key, now. */
  get(key: ObjectKey): Encoded | undefined {
    return this.#objects.get(cacheKey(key));
  }

  /** The current state, unchanging. */
  snapshot(): Snapshot {
    return { version: this.#head, next: this.#ring.next, objects: this.#objects.clone() };
  }

  /** The state at `version`: undone from the history, so it lasts as long as the history does. */
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

  /** Whether a version was given by another minter, so that it says nothing about this cache. */
  isForeign(version: string): boolean {
    return this.#minter !== undefined && !this.#minter.issued(version);
  }

  /** Where a watch from `version` goes on. */
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

  /** The oldest and the coming position of the history. */
  get first(): number {
    return this.#ring.first;
  }

  /** The position that the next event will have. */
  get next(): number {
    return this.#ring.next;
  }

  /** The event at a position that the history holds. */
  event(position: number): CacheEvent {
    return this.#ring.event(position);
  }

  /** Puts an object under its key. @param version of the change, above the head */
  set(object: Encoded, version: string = object.resourceVersion): void {
    const key = cacheKey(object.key);
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#push(new CacheEvent(version, object, previous));
  }

  /** Does nothing but advance when the object is not there. */
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

  /** The source has nothing to tell up to `version`. */
  advance(version: string): void {
    if (compareResourceVersions(version, this.#head) <= 0) return;
    this.#head = version;
    for (const listener of this.#listeners) listener.advanced?.();
    this.#wake();
  }

  /** A new state of which nobody knows how it came about: the history is void, open watches end with 410. */
  reset(objects: Iterable<Encoded>, version: string, message: string): void {
    this.#objects = new BTree();
    for (const object of objects) this.#objects.set(cacheKey(object.key), object);
    this.#head = version;
    this.#ring.clear(version);
    for (const listener of [...this.#listeners]) listener.expired(message);
    this.#wake();
  }

  /** Forgets what came before a position, but for the last `kept` events. */
  forget(before: number, kept: number): void {
    this.#forget(Math.min(before, this.#ring.next - kept));
  }

  /** Tells a listener of everything from now on, until the result is disposed. */
  listen(listener: CacheListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
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

/** The recent events of a cache, bounded in number and bytes. Positions count events from the beginning of time. */
export class Ring {
  readonly #limit: number;
  /** One more than the limit, for the event that is new while the oldest is still read. */
  readonly #slots: number;
  readonly #byteLimit: number;
  #events: (CacheEvent | undefined)[] = [];
  /** Of each event, as it was when it came: an object that is made when it is asked for may turn out longer or shorter. */
  #weights: number[] = [];
  #bytes = 0;
  /** All after this version is known. */
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

  /** Adds, and forgets nothing yet: whoever has not read up to {@link surplus} must do so before {@link forget}. */
  push(event: CacheEvent): void {
    const weight = weightOf(event);
    this.#events[this.next % this.#slots] = event;
    this.#weights[this.next % this.#slots] = weight;
    this.#bytes += weight;
    this.next += 1;
  }

  /** The position before which there is more than may be kept. */
  get surplus(): number {
    let position = this.first;
    let bytes = this.#bytes;
    while (this.next - position > this.#limit || (bytes > this.#byteLimit && this.next - position > 1)) {
      bytes -= this.#weight(position);
      position += 1;
    }
    return position;
  }

  /** Forgets the events before a position. */
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

  /** The position of the first event after `version`; `undefined` when that is no longer known. */
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

/** What an event alone keeps in memory: the object that it superseded. */
function weightOf(event: CacheEvent): number {
  return event.previous?.length ?? event.previous?.bytes.length ?? 0;
}

/** Objects order by logical cluster, namespace and name, as Kubernetes orders them by storage key. */
export function cacheKey(key: ObjectKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}

/** What {@link cacheKey} made a text of. */
export function keyOfText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

/**
 * The objects of a logical cluster and namespace ("" for all of either), in order, behind the key `after`. Reads no
 * others, but those of other namespaces when asked for one namespace of all clusters.
 */
export function* objectsIn(objects: Objects, place: Omit<ObjectKey, "name">, after = ""): Generator<Encoded> {
  const prefix = prefixOf(place);
  for (const [key, object] of objects.entries(after > prefix ? after : prefix)) {
    if (!key.startsWith(prefix)) return;
    if (key !== after && (place.namespace === "" || object.key.namespace === place.namespace)) yield object;
  }
}

const ENOUGH = { break: true } as const;
/** Above whatever a key may hold. */
const LAST = "\uffff";

/**
 * Tells `visit` of the objects that {@link objectsIn} gives, until it returns false. For large lists: half the time of
 * an iterator, and nothing for the collector, which lets the heap grow.
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
