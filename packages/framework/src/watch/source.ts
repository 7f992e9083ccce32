import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Awaitable, ChangesOptions, Past, Scope, Storage } from "../storage.ts";
import type { WatchCache } from "./cache.ts";

/** Which objects there are, and no more of them than their versions. */
export interface Versions {
  readonly resourceVersion: string;
  readonly objects: Iterable<{ readonly key: ObjectKey; readonly resourceVersion: string }>;
}

/** What a stream of objects is followed from: the part of a {@link Storage} that lists and tells changes, and what helps. */
export interface FeedSource extends Pick<Storage, "list" | "changes" | "head"> {
  /** The versions of all objects, cheaper than a list. @default they are read off one */
  objectVersions?(scope: Scope, options: ChangesOptions): Awaitable<Versions>;
  /** What the source remembers of the time before a cache that follows it began. @default nothing */
  past?(scope: Scope, cache: WatchCache): Past;
}
