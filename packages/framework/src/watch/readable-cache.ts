import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "../encoded.ts";
import type { CacheListener, Position, Snapshot, WatchCache } from "./cache.ts";
import type { CacheEvent } from "./event.ts";

/** What readers of a {@link WatchCache} need of it, and what stands for one must have. Each member is as there. */
export interface ReadableCache extends Pick<WatchCache, "head" | "size" | "first" | "next" | "reach"> {
  get(key: ObjectKey): Encoded | undefined;
  snapshot(): Snapshot;
  at(version: string): Snapshot | "expired" | "ahead";
  isForeign(version: string): boolean;
  position(version: string): Position;
  reached(version: string): boolean;
  event(position: number): CacheEvent;
  listen(listener: CacheListener): Disposable;
}
