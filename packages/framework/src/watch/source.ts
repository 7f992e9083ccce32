import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ChangesOptions, Past, Scope, Storage } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { WatchCache } from "./cache/watch-cache.ts";

/** Versions of all objects, without their content. */
export interface Versions {
  readonly resourceVersion: string;
  readonly objects: Iterable<{ readonly key: ObjectKey; readonly resourceVersion: string }>;
}

/** Source of a stream of objects: the part of a {@link Storage} that lists and reports changes, and optional helpers. */
export interface FeedSource {
  /** As {@link Storage.list}. */
  readonly list?: Storage["list"];
  /** As {@link Storage.changes}. */
  readonly changes?: Storage["changes"];
  /** As {@link Storage.head}. */
  readonly head?: Storage["head"];
  /** Returns the versions of all objects, cheaper than a list. @default takes them from a list */
  objectVersions?(scope: Scope, options: ChangesOptions): Awaitable<Versions>;
  /** Returns the source's history from before the cache began. @default none */
  past?(scope: Scope, cache: WatchCache): Past;
}
