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
