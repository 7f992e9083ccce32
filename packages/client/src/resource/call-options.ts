/** What belongs to one call. */
export interface CallOptions {
  /** Ends the call; its reason is what is thrown then. */
  readonly signal?: AbortSignal;
  /** `false`: sent once, whatever comes. @default the client's `retries` */
  readonly retries?: false;
}

export interface GetOptions extends CallOptions {
  /** No older than this; `0`: as old as it may be. @default as it is now */
  readonly resourceVersion?: string;
}

export interface SelectOptions extends CallOptions {
  /** As `kubectl -l` has it: `app=web,tier!=db`. @default all */
  readonly labels?: string;
  /** As `kubectl --field-selector` has it: `metadata.name=x`. @default all */
  readonly fields?: string;
}

export interface ListOptions extends SelectOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** The most objects in one answer. @default the server's to say */
  readonly limit?: number;
  /** What the page before gave. */
  readonly continue?: string;
}

/** What is asked of all objects, page by page. */
export interface AllOptions extends Omit<ListOptions, "continue"> {
  /**
   * What to do when the pages take longer than the server keeps their version (410): `continue` goes on with newer objects,
   * if the server lets one, `relist` begins again, with everything in one answer. @default "continue"
   */
  readonly whenExpired?: "continue" | "relist";
}

export interface WatchOptions extends SelectOptions {
  /** From where it goes on. @default what is there now, as ADDED */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Ask for what is there now first, ended by the bookmark `k8s.io/initial-events-end` (WatchList). @default false */
  readonly sendInitialEvents?: boolean;
  /** @default true */
  readonly allowWatchBookmarks?: boolean;
  /** After how long the server is to end it, s. @default the server's to say */
  readonly timeoutSeconds?: number;
  /** How long it may be silent, ms. @default Infinity */
  readonly idle?: number;
  /** Told when the server has taken the watch, before its first event. */
  readonly onOpen?: () => void;
  /** Told how long each event is, before it is given. */
  readonly onBytes?: (bytes: number) => void;
}

export interface WriteOptions extends CallOptions {
  /** @default the client's */
  readonly fieldManager?: string;
  /** Do everything but keep the result. @default false */
  readonly dryRun?: boolean;
  /** What becomes of fields that the kind does not have. @default the server's to say */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

/** What a patch is to do besides. */
export type PatchOptions = WriteOptions;

/** One step of a JSON Patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  /** A JSON Pointer: `/spec/text`; `~` is written `~0` in it, `/` as `~1`. */
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields away from other managers. @default false, that is a conflict */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** What the object must still be: 409 if it is not. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Which objects, and how: without a selector, all of them. */
export type DeleteCollectionOptions = Omit<DeleteOptions, "preconditions"> & SelectOptions;
