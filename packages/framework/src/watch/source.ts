import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ChangesOptions, Past, Scope, Storage } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { WatchCache } from "./cache/watch-cache.ts";

/** Which objects there are, and no more of them than their versions. */
export interface Versions {
  readonly resourceVersion: string;
  readonly objects: Iterable<{ readonly key: ObjectKey; readonly resourceVersion: string }>;
}

/** What a stream of objects is followed from: the part of a {@link Storage} that lists and tells changes, and what helps. */
export interface FeedSource {
  /** As {@link Storage.list}. */
  readonly list?: Storage["list"];
  /** As {@link Storage.changes}. */
  readonly changes?: Storage["changes"];
  /** As {@link Storage.head}. */
  readonly head?: Storage["head"];
  /** The versions of all objects, cheaper than a list. @default they are read off one */
  objectVersions?(scope: Scope, options: ChangesOptions): Awaitable<Versions>;
  /** What the source remembers of the time before a cache that follows it began. @default nothing */
  past?(scope: Scope, cache: WatchCache): Past;
}
