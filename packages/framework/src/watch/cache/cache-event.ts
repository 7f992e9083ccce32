import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Encoded, withResourceVersion } from "./encoded.ts";

/** What readers of a {@link WatchCache} need of it, and what stands for one must have. */
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
}

/** Hears of every change at once, in order, before the next one is applied. Must not throw. */
export interface CacheListener {
  /** A change, already applied. */
  event(event: CacheEvent): void;
  /** The cache has lost track of its source: nothing that was told before can be continued. */
  expired(message: string): void;
  /** No changes up to a new version (a source's progress). */
  advanced?(): void;
  /** The events before this position are about to be forgotten: the last moment to read them. */
  forgetting?(before: number): void;
}

/** What the objects were at a version. `next` is where a watch goes on from there. */
export interface Snapshot {
  readonly version: string;
  readonly next: number;
  readonly objects: Objects;
}

/** Where a version stands: a position to go on from, too old to know, or not yet come. */
export type Position = number | "expired" | "ahead";

/** What clients see of a change. */
export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** One step of a {@link WatchCache}: an object before and after, at a version. Immutable but for what it remembers. */
export class CacheEvent {
  readonly version: string;
  readonly object: Encoded | undefined;
  readonly previous: Encoded | undefined;
  #removed: Encoded | undefined;
  #rendered: Map<string, Buffer> | undefined;

  constructor(version: string, object: Encoded | undefined, previous: Encoded | undefined) {
    this.version = version;
    this.object = object;
    this.previous = previous;
  }

  /** Of the object that changed. */
  get key(): ObjectKey {
    return ((this.object ?? this.previous) as Encoded).key;
  }

  /** The last seen state under the version of the change that removed it: what DELETED carries. */
  removed(): Encoded {
    const previous = this.previous as Encoded;
    this.#removed ??=
      previous.resourceVersion === this.version ? previous : withResourceVersion(previous, this.version);
    return this.#removed;
  }

  /** `render()`, done once for this event and `key` however many streams ask. */
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
  /** By the whole key. */
  get(key: string): Encoded | undefined;
  /** In order, from the first key that is not below `from`. */
  entries(from?: string): Iterable<[string, Encoded]>;
  /** The same without the keys. */
  values(from?: string): Iterable<Encoded>;
  /** Tells one after the other, from `low` to `high`, until `tell` returns `break`. */
  forRange(
    low: string,
    high: string,
    includeHigh: true,
    tell: (key: string, object: Encoded) => { readonly break: true } | undefined,
  ): unknown;
}
