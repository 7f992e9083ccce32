import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** What happened to an object, as an informer tells it: each change of what its store holds, once. */
export type InformerEvent<T> =
  | {
      readonly type: "added";
      readonly key: ObjectKey;
      readonly object: T;
      /** Whether it was there before the subscriber was: replayed, or part of the first list (isInInitialList). */
      readonly initial: boolean;
    }
  | { readonly type: "updated"; readonly key: ObjectKey; readonly object: T; readonly old: T }
  | {
      readonly type: "deleted";
      readonly key: ObjectKey;
      /** As it was at its end, or as it was last seen. */
      readonly object: T;
      /** Whether the end itself was missed, and `object` may be older than it (cache.DeletedFinalStateUnknown). */
      readonly finalStateUnknown: boolean;
    };

/**
 * Why everything was read again: the server no longer had our version (`expired`, 410), or has only older ones (`rewound`):
 * it was restored from a backup, or is another one now.
 */
export type RelistReason = "expired" | "rewound";

/** What happens to the informer itself. */
export type LifecycleEvent =
  /** A watch is open, and was not before. That watches are renewed is not told. */
  | { readonly type: "connected" }
  /** It is no more, for a cause, or since the informer was stopped. */
  | { readonly type: "disconnected"; readonly cause: Error | undefined }
  /** An attempt failed; the next one comes after `retryIn` ms. */
  | { readonly type: "error"; readonly error: Error; readonly retryIn: number }
  /** The store holds what the server has. Once for each start. */
  | { readonly type: "synced" }
  /** The server has forgotten our version (410): everything is read again. */
  | { readonly type: "expired"; readonly error: Error }
  /** Everything was read again, and the differences were told. */
  | { readonly type: "relisted"; readonly reason: RelistReason }
  /** The server has no lists by watch (WatchList), or none that come to their end: lists are read page by page from now on. */
  | { readonly type: "fallback"; readonly cause: Error }
  /** An iterator is read too slowly: from now until it has caught up, changes of one object come to it as one. */
  | { readonly type: "lagging"; readonly waiting: number };

/** What is called on events. A throw, or a promise that rejects, is reported and stops nothing; promises are not waited for. */
export interface InformerHandlers<T> {
  /** There is an object that was not. */
  added?(object: T, event: Extract<InformerEvent<T>, { type: "added" }>): unknown;
  /** It is another one now; `old` is as it was. */
  updated?(object: T, old: T, event: Extract<InformerEvent<T>, { type: "updated" }>): unknown;
  /** It is gone. */
  deleted?(object: T, event: Extract<InformerEvent<T>, { type: "deleted" }>): unknown;
  /** Something happened to the informer itself. */
  lifecycle?(event: LifecycleEvent): unknown;
}

/** Counts since the informer was made, and what it has now. All grow but `objects` and `connected`. */
export interface InformerMetrics {
  /** Requests for lists; each page is one. */
  readonly lists: number;
  /** Requests for watches, lists by watch (WatchList) among them. */
  readonly watches: number;
  /** How often everything was read again, the first time not counted. */
  readonly relists: number;
  /** How often the server had forgotten our version (410), the continue tokens of pages included. */
  readonly expired: number;
  /** Failed attempts. */
  readonly errors: number;
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly bookmarks: number;
  /** What came and changed nothing: unchanged in a new list, or told once more. */
  readonly suppressed: number;
  readonly handlerErrors: number;
  /** How long there was no watch since the first one opened, s. */
  readonly gapSeconds: number;
  /** Of events of watches, as JSON. */
  readonly bytes: number;
  readonly objects: number;
  /** 1 or 0. */
  readonly connected: number;
}

/** What grows. */
export type Counters = { -readonly [Name in Exclude<keyof InformerMetrics, "objects" | "connected">]: number };

export function counters(): Counters {
  return {
    lists: 0,
    watches: 0,
    relists: 0,
    expired: 0,
    errors: 0,
    added: 0,
    updated: 0,
    deleted: 0,
    bookmarks: 0,
    suppressed: 0,
    handlerErrors: 0,
    gapSeconds: 0,
    bytes: 0,
  };
}
