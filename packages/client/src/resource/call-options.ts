/** Options of every call. */
export interface CallOptions {
  /** Cancels the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** `false` disables retries. @default the client's `retries` */
  readonly retries?: false;
}

export interface GetOptions extends CallOptions {
  /** Minimum version; `0` accepts any. @default the most recent state */
  readonly resourceVersion?: string;
}

export interface SelectOptions extends CallOptions {
  /** Label selector, as in `kubectl -l`: `app=web,tier!=db`. @default all objects */
  readonly labels?: string;
  /** Field selector, as in `kubectl --field-selector`: `metadata.name=x`. @default all objects */
  readonly fields?: string;
}

export interface ListOptions extends SelectOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Maximum number of objects in the response. @default the server's */
  readonly limit?: number;
  /** Continue token of the previous page. */
  readonly continue?: string;
}

/** Options of listing all pages. */
export interface AllOptions extends Omit<ListOptions, "continue"> {
  /**
   * Action if the list's version expires between pages (410): `continue` goes on with newer objects if the server permits
   * that, `relist` starts again with a single request.
   * @default "continue"
   */
  readonly whenExpired?: "continue" | "relist";
}

export interface WatchOptions extends SelectOptions {
  /** Version at which to start. @default the current objects, as ADDED */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Sends the current objects first, followed by the bookmark `k8s.io/initial-events-end` (WatchList). @default false */
  readonly sendInitialEvents?: boolean;
  /** Requests bookmarks. @default true */
  readonly allowWatchBookmarks?: boolean;
  /** Time after which the server ends the watch, in seconds. @default the server's */
  readonly timeoutSeconds?: number;
  /** Time without data after which the watch fails, in ms. @default Infinity */
  readonly idle?: number;
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: () => void;
  /** Called with the size of each event before its delivery. */
  readonly onBytes?: (bytes: number) => void;
}

export interface WriteOptions extends CallOptions {
  /** Field manager. @default the client's */
  readonly fieldManager?: string;
  /** Validates the write without persisting it. @default false */
  readonly dryRun?: boolean;
  /** Treatment of fields that the kind does not have. @default the server's */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

/** Options of a patch. */
export type PatchOptions = WriteOptions;

/** Operation of a JSON Patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  /** JSON Pointer, such as `/spec/text`; `~` is escaped as `~0`, `/` as `~1`. */
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields over from other managers. @default false: 409 for a conflict */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Required uid and version of the object: 409 if they differ. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Options of deleteCollection. Without a selector it deletes all objects. */
export type DeleteCollectionOptions = Omit<DeleteOptions, "preconditions"> & SelectOptions;
