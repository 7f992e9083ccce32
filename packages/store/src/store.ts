/** Key with its value. */
export interface Entry {
  readonly key: string;
  /** Value. It belongs to the caller: no engine keeps or reuses it. */
  readonly value: Buffer;
  /** Revision of the key's creation, since its last deletion. */
  readonly createRevision: number;
  /** Revision of the value, which conditions refer to. */
  readonly modRevision: number;
  /** Id of its lease. */
  readonly lease?: string;
}

/** Keys from `from` up to but not including `to`, ordered by their UTF-8 bytes, which is not JavaScript's order of strings. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

/** Options of reading a range. */
export interface RangeOptions {
  /** Revision to read at. @default the current one, no older than the call */
  readonly revision?: number;
  /** Maximum number of entries. @default all */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Entries of a range. */
export interface RangeResult {
  /** Entries in the order of their keys. */
  readonly entries: readonly Entry[];
  /** Revision of all entries: the requested or the newest one. */
  readonly revision: number;
  /** Whether the limit cut entries off: continue after the last key. */
  readonly more: boolean;
}

/** Condition of a transaction: the key's `modRevision`, 0 if it must not exist. */
export interface Condition {
  readonly key: string;
  readonly modRevision: number;
}

/** Operation of a transaction, with at most one for each key. */
export type Operation =
  | { readonly type: "put"; readonly key: string; readonly value: Uint8Array; readonly lease?: Lease }
  /** Deleting a missing key does nothing, and creates no revision. */
  | { readonly type: "delete"; readonly key: string };

/** Operations applied atomically at one revision (etcd's `Txn`). */
export interface Transaction {
  /** At most 128 conditions. */
  readonly conditions: readonly Condition[];
  /** At most 128 operations, etcd's own limit. */
  readonly operations: readonly Operation[];
}

/** Outcome of a transaction. */
export type Outcome =
  /** Committed and durable. `revision` is the store's, a new one if anything changed. */
  | { readonly committed: true; readonly revision: number }
  /** A condition failed; nothing was done. `current`: the entry of each condition's key. */
  | { readonly committed: false; readonly revision: number; readonly current: readonly (Entry | undefined)[] };

/** Change of a key. */
export interface StoreEvent {
  readonly key: string;
  /** New entry, `undefined` if it was deleted. */
  readonly entry: Entry | undefined;
  /** Previous entry, if the watch requested it. */
  readonly previous: Entry | undefined;
}

/** All events of one revision in a range. Without events: none up to this revision (etcd's progress notify). */
export interface Batch {
  readonly revision: number;
  readonly events: readonly StoreEvent[];
}

/** Options of a watch. */
export interface WatchOptions {
  /** Revision after which to start. */
  readonly after: number;
  /** Whether events have their previous entry. @default false */
  readonly previous?: boolean;
  /** Ends the watch when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Watch of a range by one reader: batches in the order of revisions, each exactly once, however slow the reader is. Unread
 * batches use bounded memory. It ends when the reader leaves it, its signal aborts or the store closes, and survives failures
 * that the engine can recover from, such as a lost connection.
 *
 * Reading throws a {@link StoreError} `Compacted` if the next events are no longer in the history.
 */
export interface Watch extends AsyncIterable<Batch> {
  /** Requests a batch with the current or a later revision, even without events. */
  requestProgress(): void;
}

/** Time to live of keys. */
export interface Lease {
  /** Decimal number, unique in the store. */
  readonly id: string;
  /** Granted time to live, in seconds. */
  readonly ttl: number;
}

/**
 * Key-value store with a single sequence of revisions, like etcd: the interface of all engines. Every call is linearizable:
 * it sees everything that was acknowledged before it started. A revision is an integer from 1; each change increases it by
 * one, and it never decreases, even after a crash of the process or machine.
 *
 * Keys are text of 1 to 1024 bytes. Values have up to 8 MiB if the engine permits (etcd: 1.5 MiB per transaction by default);
 * larger ones are rejected with {@link StoreError} `TooLarge`. All methods throw {@link StoreError}s.
 */
export interface Store extends AsyncDisposable {
  /** Name for humans: `memory`, `lmdb at /var/lib/x`, `etcd at https://a:2379`. Contains no secret. */
  readonly name: string;
  /** Whether other processes may use the same data at the same time. @default false */
  readonly shared?: boolean;
  /** Returns the newest revision. */
  head(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** Returns the current entry of a key, `undefined` for an invalid one. In-process engines answer synchronously. */
  get(key: string, options?: { readonly signal?: AbortSignal }): Entry | undefined | Promise<Entry | undefined>;
  /**
   * Reads a range. Bounds may be longer than keys.
   * @throws StoreError `Compacted` for a revision that is too old, `Future` for one that does not exist yet
   */
  range(range: KeyRange, options?: RangeOptions): Promise<RangeResult>;
  /** Commits a transaction, and resolves when it is durable. After `Unknown` it may have been committed: do not retry without a read. */
  commit(transaction: Transaction, options?: { readonly signal?: AbortSignal }): Promise<Outcome>;
  /** Watches a range. This call never throws: reading the watch does. */
  watch(range: KeyRange, options: WatchOptions): Watch;
  /**
   * Compacts the history before a revision: ranges at earlier revisions and watches after them fail with `Compacted`. Entries
   * at the revision stay. Compacting again or to an earlier revision does nothing.
   *
   * @throws StoreError `Future` if the revision does not exist yet
   */
  compact(revision: number): Promise<void>;
  /** Grants a lease with a time to live in seconds, at least 1 (etcd may grant more). Its keys are deleted when it expires. */
  grant(ttl: number): Promise<Lease>;
  /** Restarts the time of a lease. @throws StoreError `LeaseNotFound` if it has expired */
  renew(lease: Lease): Promise<Lease>;
  /** Revokes a lease and deletes its keys. @throws StoreError `LeaseNotFound` */
  revoke(lease: Lease): Promise<void>;
  /** Returns the remaining time of a lease, in seconds. @throws StoreError `LeaseNotFound` */
  remaining(id: string): Promise<number>;
}

/** Services of a server for hosted views: `virtual-workspaces dev` passes it to the module's function. */
export interface Host {
  /** Store for objects, with {@link persistent}. A command-line flag selects the engine. The host closes it. */
  readonly store: Store;
}
