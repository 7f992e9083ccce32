import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { WatchCache } from "./cache.ts";
import type { Encoded } from "./encoded.ts";
import type { CacheEvent } from "./event.ts";
import type { Objects } from "./objects.ts";

/** What readers of a {@link WatchCache} need of it, and what stands for one must have. */
export interface ReadableCache extends Pick<WatchCache, "head" | "size" | "first" | "next" | "reach"> {
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
