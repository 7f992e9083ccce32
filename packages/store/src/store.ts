/** A key and what stands at it. */
export interface Entry {
  readonly key: string;
  /** Belongs to whoever asked: no engine keeps or reuses it. */
  readonly value: Buffer;
  /** The revision at which the key came to be (after the last time it was deleted). */
  readonly createRevision: number;
  /** The revision that gave it this value: what conditions name. */
  readonly modRevision: number;
  /** The id of the lease that it goes with. */
  readonly lease?: string;
}

/**
 * Keys from `from` up to but not including `to`. Keys are ordered by their bytes in UTF-8, which is not how JavaScript
 * compares strings.
 */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

/** How a range is read. */
export interface RangeOptions {
  /** As everything stood at this revision. @default as it stands now, no staler than when this was called */
  readonly revision?: number;
  /** The most entries there may be in the answer. @default all */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** What a range held. */
export interface RangeResult {
  /** In the order of their keys. */
  readonly entries: readonly Entry[];
  /** The revision at which the entries stood together: the one asked for, or the newest. */
  readonly revision: number;
  /** Whether the limit left some out: go on after the last key. */
  readonly more: boolean;
}

/** What must hold for a transaction to be done: the key's value is still the one of that revision; 0: there is none. */
export interface Condition {
  readonly key: string;
  readonly modRevision: number;
}

/** What a transaction does to a key. A key may be named once in a transaction. */
export type Operation =
  | { readonly type: "put"; readonly key: string; readonly value: Uint8Array; readonly lease?: Lease }
  /** Of a key that is not there: nothing, and no revision for it. */
  | { readonly type: "delete"; readonly key: string };

/** All or nothing, at one revision (etcd's `Txn`). */
export interface Transaction {
  /** At most 128. */
  readonly conditions: readonly Condition[];
  /** At most 128, etcd's own limit. */
  readonly operations: readonly Operation[];
}

/** How a transaction went. */
export type Outcome =
  /** Done, and on disk. `revision` is the store's, its own if it changed anything. */
  | { readonly committed: true; readonly revision: number }
  /** A condition did not hold; nothing was done. `current`: what stands at the key of each condition. */
  | { readonly committed: false; readonly revision: number; readonly current: readonly (Entry | undefined)[] };

/** One thing that happened to a key. */
export interface StoreEvent {
  readonly key: string;
  /** What stands there now; `undefined`: it was deleted. */
  readonly entry: Entry | undefined;
  /** What stood there before, where the watch asked for it. */
  readonly previous: Entry | undefined;
}

/** All that happened at one revision in a range. Without events: nothing up to this revision (etcd's progress notify). */
export interface Batch {
  readonly revision: number;
  readonly events: readonly StoreEvent[];
}

/** How a range is followed. */
export interface WatchOptions {
  /** Tells of every revision above this one. */
  readonly after: number;
  /** Whether events say what stood there before. @default false */
  readonly previous?: boolean;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/**
 * A range being followed: batches in the order of their revisions, none twice, none left out, however slowly they are
 * read; what is not read yet costs bounded memory. Read by one reader. Ends when it is left, its signal aborts or the
 * store is closed; survives whatever the engine can mend by itself (a lost connection).
 *
 * Reading throws a {@link StoreError} `Compacted` when the history that it should go on with is gone.
 */
export interface Watch extends AsyncIterable<Batch> {
  /** Asks for a batch, soon, with the revision that the store has now or a later one, even if nothing happened. */
  requestProgress(): void;
}

/** A time to live that keys can be given. */
export interface Lease {
  /** Decimal; unique in the store. */
  readonly id: string;
  /** What the store granted, s. */
  readonly ttl: number;
}

/**
 * Keys with values in one line of revisions, as etcd keeps them: the contract of the engines. Every call is linearizable:
 * it sees all that was acknowledged before it began. A revision is an integer from 1 that each change raises by one; it
 * never goes back, not even when the process or the machine dies.
 *
 * Keys are text of 1 to 1024 bytes, values are up to 8 MiB where the engine takes as much (etcd: 1.5 MiB in a
 * transaction, unless it is told otherwise); what is larger is a {@link StoreError} `TooLarge`. All methods throw
 * {@link StoreError}s; see its codes.
 */
export interface Store extends AsyncDisposable {
  /** What it is, for people: `memory`, `lmdb at /var/lib/x`, `etcd at https://a:2379`. Holds no secret. */
  readonly name: string;
  /** Whether other processes may have it at the same time, so that what is kept in it is the same to all. @default false */
  readonly shared?: boolean;
  /** The newest revision. */
  head(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** What stands at a key now: nothing where none can be. Engines in this process answer at once. */
  get(key: string, options?: { readonly signal?: AbortSignal }): Entry | undefined | Promise<Entry | undefined>;
  /** Bounds may be longer than keys. @throws StoreError `Compacted` when the revision is too old, `Future` when it has not come yet */
  range(range: KeyRange, options?: RangeOptions): Promise<RangeResult>;
  /**
   * Acknowledged when it is durable. A thrown `Unknown` means that nobody can tell whether it was done: it must not be
   * tried again blindly.
   */
  commit(transaction: Transaction, options?: { readonly signal?: AbortSignal }): Promise<Outcome>;
  /** Follows a range. Throws nothing by itself: reading it does. */
  watch(range: KeyRange, options: WatchOptions): Watch;
  /**
   * Forgets what was before a revision: ranges at lower ones and watches after lower ones are `Compacted` from then on; what
   * stands at it stays. Doing it again, or for a lower one, does nothing.
   *
   * @throws StoreError `Future` when the revision has not come yet
   */
  compact(revision: number): Promise<void>;
  /** A time to live, s, at least 1 (etcd may grant more). Keys put with it go when it is over. */
  grant(ttl: number): Promise<Lease>;
  /** Lets it begin anew. @throws StoreError `LeaseNotFound` when it is over */
  renew(lease: Lease): Promise<Lease>;
  /** Ends it: its keys go. @throws StoreError `LeaseNotFound` */
  revoke(lease: Lease): Promise<void>;
  /** What is left of the time of the lease with this id, s. @throws StoreError `LeaseNotFound` */
  remaining(id: string): Promise<number>;
}

/** What a server has for the views that it hosts: `virtual-workspaces dev` calls a module's function with it. */
export interface Host {
  /** Where objects can be kept, {@link persistent}ly; which engine it is, the command line says. The host closes it. */
  readonly store: Store;
}
