import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type {
  CacheEvent,
  CacheListener,
  Encoded,
  EventDetails,
  Objects,
  Past,
  PastChanges,
  Position,
  ReadableCache,
  Snapshot,
} from "@virtual-workspaces/framework/storage";
import type { IndexChange, IndexListener, QueryIndex } from "../indexes/query-index.ts";
import type { Window } from "../request/query.ts";
import { WindowSteps } from "./window-steps.ts";

/** Maximum number of events from which watches of a window resume without the source's history. */
const HISTORY = 1024;
/** Time for which changes of the total are collected before bookmarks tell them, in ms. */
const TOTAL_DELAY = 50;

const TOO_OLD = "too old resource version: the history of the source no longer has it, list again";

/** Options of a {@link WindowCache}. */
export interface WindowCacheOptions {
  /** Whether all watches hold another window: they begin with {@link WindowCache.past}. @default false */
  readonly held?: boolean;
  /**
   * Version before which the objects of the index were others, for this user; also at that version, unless `isShown`.
   * @default none
   */
  readonly since?: { readonly version: string; readonly isShown: boolean } | undefined;
}

/** The watched state of a window: a small watch cache over an index, with the versions of the index's source. */
export class WindowCache implements ReadableCache, IndexListener, Disposable {
  readonly #index: QueryIndex;
  readonly #window: Window;
  readonly #steps: WindowSteps;
  readonly #listeners = new Set<CacheListener>();
  readonly #following: Disposable;
  readonly #since: WindowCacheOptions["since"];
  #events: CacheEvent[] = [];
  /** Version after which all events are known. */
  #floor: string;
  #head: string;
  #first = 0;
  #bookmark: NodeJS.Timeout | undefined;
  #total: number;
  /** Whether a client that holds another window has not got the differences yet. */
  #isHeld: boolean;

  constructor(index: QueryIndex, window: Window, { held = false, since }: WindowCacheOptions = {}) {
    this.#since = since;
    this.#index = index;
    this.#window = window;
    this.#isHeld = held;
    this.#steps = new WindowSteps(index.order, window);
    this.#floor = index.version;
    this.#head = index.version;
    this.#total = index.order.size;
    this.#following = index.listen(this);
  }

  get head(): string {
    return this.#head;
  }

  get size(): number {
    return this.#window.limit === undefined ? this.#index.order.size : this.#steps.contents.length;
  }

  get first(): number {
    return this.#first;
  }

  get next(): number {
    return this.#first + this.#events.length;
  }

  reach(version: string, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<void> {
    return this.#index.cache.reach(version, options);
  }

  get(key: ObjectKey): Encoded | undefined {
    return this.#objects().find(
      (object) =>
        object.key.name === key.name && object.key.namespace === key.namespace && object.key.cluster === key.cluster,
    );
  }

  snapshot(): Snapshot {
    return { version: this.#head, next: this.next, objects: new WindowObjects(this.#objects()) };
  }

  at(): "expired" {
    return "expired";
  }

  isForeign(version: string): boolean {
    return this.#index.cache.isForeign(version);
  }

  position(version: string): Position {
    const { cache } = this.#index;
    if (cache.isForeign(version)) return "expired";
    if (cache.position(version) === "ahead") return "ahead";
    if (this.#isHeld || this.#isBefore(version) || compareResourceVersions(version, this.#floor) < 0) return "expired";
    const found = this.#events.findIndex((event) => compareResourceVersions(event.version, version) > 0);
    return found === -1 ? this.next : this.#first + found;
  }

  reached(version: string): boolean {
    return this.#index.cache.reached(version);
  }

  event(position: number): CacheEvent {
    return this.#events[position - this.#first] as CacheEvent;
  }

  listen(listener: CacheListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  bookmarkDetails(): EventDetails {
    return { query: { total: this.#index.order.size, offset: this.#window.offset } };
  }

  /** Returns the history of a client that holds a window, as of its version: what leads from there to this window now. */
  past(held: Window): Past {
    return { changes: async (after) => this.#changesSince(after, held) };
  }

  changed(change: IndexChange): void {
    const { order } = this.#index;
    const { version } = change.event;
    const events = this.#steps.changed(change, order, { version, before: this.#head });
    this.#head = version;
    for (const event of events) {
      this.#events.push(event);
      for (const listener of this.#listeners) listener.event(event);
    }
    if (events.length === 0) for (const listener of this.#listeners) listener.advanced?.();
    this.#forget();
    const last = events.at(-1);
    const showsVersion = last !== undefined && (last.object === undefined || last.object.resourceVersion === version);
    if (this.#total === order.size && (showsVersion || events.length === 0)) return;
    this.#total = order.size;
    // The event has the total already; its bookmark brings the version.
    if (!showsVersion) this.#bookmark ??= setTimeout(this.#tell, TOTAL_DELAY).unref();
  }

  advanced(): void {
    this.#head = this.#index.version;
    for (const listener of this.#listeners) listener.advanced?.();
  }

  expired(message: string, rejected: boolean): void {
    for (const listener of [...this.#listeners]) listener.expired(message, rejected);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#bookmark);
    this.#following[Symbol.dispose]();
  }

  readonly #tell = (): void => {
    this.#bookmark = undefined;
    for (const listener of this.#listeners) listener.bookmark?.();
  };

  #objects(): readonly Encoded[] {
    const { order } = this.#index;
    return this.#window.limit === undefined ? order.slice(0, order.size) : this.#steps.contents;
  }

  #changesSince(after: string, held: Window): PastChanges {
    const { cache, order: now, version } = this.#index;
    const then = this.#isBefore(after) ? undefined : this.#index.at(after);
    if (then === undefined) throw ApiError.expired(TOO_OLD);
    const { order } = then;
    const steps = new WindowSteps(order, held);
    const events: CacheEvent[] = [];
    let before = after;
    for (let position = then.next; position < cache.next; position++) {
      const event = cache.event(position);
      const moved = this.#index.move(order, event.previous, event.object);
      events.push(...steps.changed({ event, ...moved }, order, { version: event.version, before }));
      before = event.version;
    }
    if (this.#window.offset !== held.offset || this.#window.limit !== held.limit)
      events.push(...steps.transition(now, this.#window, { version, before: after }));
    if (this.#isHeld) this.#bookmark ??= setTimeout(this.#tell, 0).unref(); // also if the two windows have the same objects
    this.#isHeld = false;
    return { events, version };
  }

  /** Whether a version is from before what the watch may show. */
  #isBefore(version: string): boolean {
    if (this.#since === undefined) return false;
    const compared = compareResourceVersions(version, this.#since.version);
    return compared < 0 || (compared === 0 && !this.#since.isShown);
  }

  #forget(): void {
    const surplus = this.#events.length - HISTORY;
    // In larger pieces, since the rest moves.
    if (surplus < HISTORY) return;
    for (const listener of this.#listeners) listener.forgetting?.(this.#first + surplus);
    this.#floor = (this.#events[surplus - 1] as CacheEvent).version;
    this.#events = this.#events.slice(surplus);
    this.#first += surplus;
  }
}

/** Objects in the order of a window; ranges of keys have no meaning there. */
class WindowObjects implements Objects {
  readonly #objects: readonly Encoded[];

  constructor(objects: readonly Encoded[]) {
    this.#objects = objects;
  }

  get size(): number {
    return this.#objects.length;
  }

  get(key: string): Encoded | undefined {
    return this.#objects.find((object) => textOf(object) === key);
  }

  *entries(): Generator<[string, Encoded]> {
    for (const object of this.#objects) yield [textOf(object), object];
  }

  values(): Iterable<Encoded> {
    return this.#objects;
  }

  forRange(...[, , , tell]: Parameters<Objects["forRange"]>): undefined {
    for (const object of this.#objects) if (tell(textOf(object), object) !== undefined) return;
  }
}

function textOf({ key }: Encoded): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}
