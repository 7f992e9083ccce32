import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "./encoded.ts";
import type { CacheListener, Position, Snapshot, WatchCache } from "./cache.ts";
import type { CacheEvent } from "./event.ts";

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
