/**
 * Reason of a {@link StoreError}:
 *
 * - `Compacted`: the requested revision is no longer in the history.
 * - `Future`: the requested revision does not exist yet.
 * - `Unavailable`: temporary failure; nothing was done, and a retry is safe.
 * - `Unknown`: the response to a transaction was lost; it may have been committed.
 * - `Closed`: the owner has closed the store.
 * - `TooLarge`: a key, value or transaction exceeds the engine's limit.
 * - `NoSpace`: the disk is full, or etcd's quota is used up; nothing was done, and reads continue.
 * - `LeaseNotFound`: the lease has expired or never existed.
 * - `Denied`: etcd rejects the credentials, or the user lacks permission.
 * - `Invalid`: invalid arguments, such as a duplicate or empty key: a bug in the program.
 * - `Locked`: another process has the directory.
 * - `Damaged`: data on disk is unreadable.
 * - `NewerFormat`: a newer version of this package wrote the data.
 * - `ReadOnly`: the store is not writable.
 */
export type StoreErrorCode =
  | "Compacted"
  | "Future"
  | "Unavailable"
  | "Unknown"
  | "Closed"
  | "TooLarge"
  | "NoSpace"
  | "LeaseNotFound"
  | "Denied"
  | "Invalid"
  | "Locked"
  | "Damaged"
  | "NewerFormat"
  | "ReadOnly";

/** Error of a store. Its message names the remedy and no secret. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** With `Compacted`: the oldest revision for a range, and after which a watch may start. */
  readonly compacted: number | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly compacted?: number } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.compacted = options.compacted;
  }

  /** Creates the error of a range at, or a watch after, a revision that is too old. */
  static compacted(asked: number, compacted: number): StoreError {
    return new StoreError("Compacted", `revision ${asked} has been compacted: the oldest is ${compacted}`, {
      compacted,
    });
  }

  /** Creates the error of a range at, or compaction to, a revision that is too new. */
  static future(asked: number, head: number): StoreError {
    return new StoreError("Future", `revision ${asked} does not exist yet: the newest is ${head}`);
  }

  /** Creates the error of every call to a closed store. */
  static closed(name: string): StoreError {
    return new StoreError("Closed", `the store (${name}) is closed`);
  }
}

/** Returns whether a value is a {@link StoreError} of any copy of this package. */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && error.name === "StoreError";
}
