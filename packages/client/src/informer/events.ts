import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** Event of an informer: one change of one object in its store. */
export type InformerEvent<T> =
  | {
      readonly type: "added";
      readonly key: ObjectKey;
      readonly object: T;
      /** Whether the object existed before the subscriber: replayed, or part of the first list (isInInitialList). */
      readonly initial: boolean;
    }
  | { readonly type: "updated"; readonly key: ObjectKey; readonly object: T; readonly old: T }
  | {
      readonly type: "deleted";
      readonly key: ObjectKey;
      /** Final state, or the last known one. */
      readonly object: T;
      /** Whether the informer missed the delete event, so that `object` may be outdated (cache.DeletedFinalStateUnknown). */
      readonly finalStateUnknown: boolean;
    };

/**
 * Reason of a relist: the server no longer has the version (`expired`, 410), or has only older ones (`rewound`), because it
 * was restored from a backup or replaced.
 */
export type RelistReason = "expired" | "rewound";

/** Event of the informer itself. */
export type LifecycleEvent =
  /** A watch has opened where none was open. Renewals send no event. */
  | { readonly type: "connected" }
  /** The watch has failed, or the informer was stopped. */
  | { readonly type: "disconnected"; readonly cause: Error | undefined }
  /** An attempt has failed. The next one follows after `retryIn` ms. */
  | { readonly type: "error"; readonly error: Error; readonly retryIn: number }
  /** The store is complete. Once for each start. */
  | { readonly type: "synced" }
  /** The server no longer has the version (410). A relist follows. */
  | { readonly type: "expired"; readonly error: Error }
  /** A relist is complete, and its differences were sent as events. */
  | { readonly type: "relisted"; readonly reason: RelistReason }
  /** The server has no lists by watch (WatchList), or does not complete them. From now on the informer lists in pages. */
  | { readonly type: "fallback"; readonly cause: Error }
  /** An iterator reads too slowly. Until it has caught up, it receives the changes of one object as one event. */
  | { readonly type: "lagging"; readonly waiting: number };

/** Event handlers. An exception or a rejected promise is reported and has no other effect. The informer does not await promises. */
export interface InformerHandlers<T> {
  /** Called for a new object. */
  added?(object: T, event: Extract<InformerEvent<T>, { type: "added" }>): unknown;
  /** Called for a changed object; `old` is its previous state. */
  updated?(object: T, old: T, event: Extract<InformerEvent<T>, { type: "updated" }>): unknown;
  /** Called for a deleted object. */
  deleted?(object: T, event: Extract<InformerEvent<T>, { type: "deleted" }>): unknown;
  /** Called for an event of the informer itself. */
  lifecycle?(event: LifecycleEvent): unknown;
}

/** Counters since the informer was created. `objects` and `connected` are gauges. */
export interface InformerMetrics {
  /** List requests, one per page. */
  readonly lists: number;
  /** Watch requests, including lists by watch (WatchList). */
  readonly watches: number;
  /** Relists, without the first list. */
  readonly relists: number;
  /** Responses 410 for an expired version or continue token. */
  readonly expired: number;
  /** Failed attempts. */
  readonly errors: number;
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly bookmarks: number;
  /** Received objects that changed nothing: unchanged in a relist, or sent twice. */
  readonly suppressed: number;
  readonly handlerErrors: number;
  /** Time without a watch since the first one opened, in seconds. */
  readonly gapSeconds: number;
  /** Size of all watch events as JSON, in bytes. */
  readonly bytes: number;
  readonly objects: number;
  /** Whether a watch is open: 1 or 0. */
  readonly connected: number;
}

/** Counters, without the gauges. */
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
