import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Encoded, withResourceVersion } from "./encoded.ts";

/** Read access to a {@link WatchCache}, or to a cache derived from one. */
export interface ReadableCache {
  /** As {@link WatchCache.head}. */
  readonly head: string;
  /** As {@link WatchCache.size}. */
  readonly size: number;
  /** As {@link WatchCache.first}. */
  readonly first: number;
  /** As {@link WatchCache.next}. */
  readonly next: number;
  /** As {@link WatchCache.reach}. */
  reach(version: string, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<void>;
  /** As {@link WatchCache.get}. */
  get(key: ObjectKey): Encoded | undefined;
  /** As {@link WatchCache.snapshot}. */
  snapshot(): Snapshot;
  /** As {@link WatchCache.at}. */
  at(version: string): Snapshot | "expired" | "ahead";
  /** As {@link WatchCache.isForeign}. */
  isForeign(version: string): boolean;
  /** As {@link WatchCache.position}. */
  position(version: string): Position;
  /** As {@link WatchCache.reached}. */
  reached(version: string): boolean;
  /** As {@link WatchCache.event}. */
  event(position: number): CacheEvent;
  /** As {@link WatchCache.listen}. */
  listen(listener: CacheListener): Disposable;
  /** Returns further members of BOOKMARK events, for the current state. @default none */
  bookmarkDetails?(): EventDetails;
}

/**
 * Further members of a watch event beside `type` and `object`, as JSON. Kubernetes' clients ignore them. The server sends them to
 * all watches of the cache.
 */
export type EventDetails = Readonly<Record<string, unknown>>;

/** Receives every change synchronously, in order, before the next one is applied. Must not throw. */
export interface CacheListener {
  /** Called after a change was applied. */
  event(event: CacheEvent): void;
  /**
   * Called when the cache has lost track of its source, so that no watch can continue.
   *
   * @param rejected whether the source rejects reading: the cache is empty, but the objects may still exist
   */
  expired(message: string, rejected: boolean): void;
  /** Called on a new version without changes (a source's progress). */
  advanced?(): void;
  /** Called when watches with bookmarks should get one now, such as after new {@link ReadableCache.bookmarkDetails}. */
  bookmark?(): void;
  /** Called before the cache drops the events before this position: the last chance to read them. */
  forgetting?(before: number): void;
}

/** Objects at a version. `next` is the position at which a watch continues. */
export interface Snapshot {
  readonly version: string;
  readonly next: number;
  readonly objects: Objects;
}

/** Position of a version in the history: a number, too old, or not reached yet. */
export type Position = number | "expired" | "ahead";

/** Type of a watch event. */
export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** A change in a {@link WatchCache}: an object before and after, at a version. Immutable except for its rendered bytes. */
export class CacheEvent {
  readonly version: string;
  readonly object: Encoded | undefined;
  readonly previous: Encoded | undefined;
  #removed: Encoded | undefined;
  #isReplaced: boolean | undefined;
  #rendered: Map<string, Buffer> | undefined;

  constructor(version: string, object: Encoded | undefined, previous: Encoded | undefined) {
    this.version = version;
    this.object = object;
    this.previous = previous;
  }

  /** Further members of the event. @default none */
  get details(): EventDetails | undefined {
    return undefined;
  }

  /** Key of the changed object. */
  get key(): ObjectKey {
    return ((this.object ?? this.previous) as Encoded).key;
  }

  /** Whether another object has taken the name. Compared once: a storage may make a uid on each access. */
  get isReplaced(): boolean {
    this.#isReplaced ??= this.previous?.uid !== this.object?.uid;
    return this.#isReplaced;
  }

  /** Returns the last seen state at the version of its removal: the object of a DELETED event. */
  removed(): Encoded {
    const previous = this.previous as Encoded;
    this.#removed ??=
      previous.resourceVersion === this.version ? previous : withResourceVersion(previous, this.version);
    return this.#removed;
  }

  /** Returns the result of `render()`, called once for this event and `key`, however many streams need it. */
  rendered(key: string, render: () => Buffer): Buffer {
    this.#rendered ??= new Map();
    let bytes = this.#rendered.get(key);
    if (bytes === undefined) {
      bytes = render();
      this.#rendered.set(key, bytes);
    }
    return bytes;
  }
}

/** Objects by `<logical cluster>/<namespace>/<name>`, in that order. */
export interface Objects {
  readonly size: number;
  /** Returns an object by its whole key. */
  get(key: string): Encoded | undefined;
  /** Returns the entries in order, from the first key that is not below `from`. */
  entries(from?: string): Iterable<[string, Encoded]>;
  /** Returns the objects in the same order. */
  values(from?: string): Iterable<Encoded>;
  /** Calls `tell` for each object from `low` to `high`, until it returns `break`. */
  forRange(
    low: string,
    high: string,
    includeHigh: true,
    tell: (key: string, object: Encoded) => { readonly break: true } | undefined,
  ): unknown;
}
