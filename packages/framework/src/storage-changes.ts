import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "./watch/cache/encoded.ts";
import type { Awaitable, RequestOptions, Storage } from "./storage.ts";
import type { CacheEvent } from "./watch/cache/event.ts";
import type { ReadableCache } from "./watch/cache/readable-cache.ts";

/**
 * One step of a source. Versions must increase from change to change; the first is above the one
 * that {@link Storage.changes} was asked to start after.
 */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: "set"; readonly object: T | Encoded }
  | { readonly type: "delete"; readonly key: ObjectKey; readonly resourceVersion: string }
  /** Everything up to this version has been told. Becomes bookmarks; Kubernetes calls it progress notify. */
  | { readonly type: "progress"; readonly resourceVersion: string }
  /** The source cannot tell what happened: the hub lists again and open watches end with 410. */
  | { readonly type: "expired"; readonly message?: string };

/** What a stream is opened with. */
export interface ChangesOptions {
  /** Aborts when nobody listens any more. The iterator must then end. */
  readonly signal: AbortSignal;
}

/** Some of what happened in the past. */
export interface PastChanges {
  /** Oldest first, whole versions, each change with what was there before. */
  readonly events: readonly CacheEvent[];
  /** Up to here everything has been told: above what was asked for, or what the cache holds. */
  readonly version: string;
}

/** What a storage remembers of the time before its watch cache does: a store on disk has more room for it. */
export interface Past {
  /**
   * What happened after a version, as much as is well told at once. Many ask the same when a server has been started anew:
   * they may be given the same. @throws ApiError 410 when that is not known any more either
   */
  changes(after: string, options: ChangesOptions): Promise<PastChanges>;
  /**
   * The objects of a logical cluster and namespace ("" for all of either) as they were at a version, behind the key
   * `after`, in the order of a cache. @throws ApiError 410 @default they are not known any more
   */
  objects?(version: string, range: PastRange, options: ChangesOptions): AsyncIterable<Encoded>;
  /** Whether {@link changes} may wait for long, as for another server: no request is counted as under way meanwhile. @default false */
  readonly waits?: boolean;
}

/** Which objects of the past are wanted. */
export interface PastRange extends Omit<ObjectKey, "name"> {
  /** A whole key as a cache orders by, "" to begin with the first. */
  readonly after: string;
  /** After how many the reader very likely stops. @default it reads all */
  readonly atOnce?: number;
}

/** A share in a watch cache. Whoever holds one releases it exactly once. */
export interface CacheLease extends Disposable {
  readonly cache: ReadableCache;
  /** @default nothing is remembered but what the cache does */
  readonly past?: Past;
  /**
   * Resolves when the cache is no staler than its source was when this was called. One of several sources that cannot be
   * reached is named by `warn`, and does not keep the others from being read.
   */
  readonly confirm: (
    request: Pick<RequestOptions, "signal"> & Partial<Pick<RequestOptions, "warn">>,
  ) => Awaitable<void>;
  /**
   * Called before an object that is not there is answered 404. @throws ApiError 503 when nobody knows, as one of several
   * sources has never been reached. @default it is known
   */
  readonly checkAbsent?: () => void;
}
