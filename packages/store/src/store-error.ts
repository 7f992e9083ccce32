/**
 * Why a store refused or failed:
 *
 * - `Compacted`: the revision asked for is no longer in the history.
 * - `Future`: the revision asked for has not come yet.
 * - `Unavailable`: not now; nothing was done, and trying again later is safe.
 * - `Unknown`: the answer to a transaction was lost; it may have been done.
 * - `Closed`: the store was closed by its owner.
 * - `TooLarge`: a key, a value or a transaction is larger than the engine takes.
 * - `NoSpace`: the disk is full, or etcd's quota is used up; nothing was done, reading goes on.
 * - `LeaseNotFound`: the lease is over, or never was.
 * - `Denied`: etcd knows us not, or does not let us.
 * - `Invalid`: the call makes no sense (a key named twice, an empty key): a mistake in the program.
 * - `Locked`: the directory belongs to another process.
 * - `Damaged`: what is on disk cannot be read.
 * - `NewerFormat`: it was written by a newer version of this package.
 * - `ReadOnly`: it cannot be written.
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

/** What a store throws. The message names the remedy and no secret. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** With `Compacted`: the oldest revision that a range may ask for and that a watch may start after. */
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

  /** What a range at a revision, or a watch after it, throws that is older than the oldest there is. */
  static compacted(asked: number, compacted: number): StoreError {
    return new StoreError("Compacted", `revision ${asked} has been compacted: the oldest is ${compacted}`, {
      compacted,
    });
  }

  /** What a range at a revision throws, or compaction to it, that is newer than the newest there is. */
  static future(asked: number, head: number): StoreError {
    return new StoreError("Future", `revision ${asked} has not come yet: the newest is ${head}`);
  }

  /** What every call to a closed store throws. */
  static closed(name: string): StoreError {
    return new StoreError("Closed", `the store (${name}) is closed`);
  }
}

/** Whether something is an error of a store, also of another copy of this package. */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && error.name === "StoreError";
}
