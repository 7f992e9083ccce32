import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@virtual-workspaces/transport";
import { ownBytes } from "../engine/bytes.ts";
import { SortableRange, sortable } from "../engine/key-order.ts";
import {
  checkCount,
  checkFirstRevision,
  checkRange,
  checkRangeOptions,
  checkTransaction,
  couldBeKey,
} from "../engine/limits.ts";
import { handOut, WatchHub } from "../engine/watch-hub.ts";
import type {
  Entry,
  KeyRange,
  Lease,
  Operation,
  Outcome,
  RangeOptions,
  RangeResult,
  Store,
  Transaction,
  Watch,
  WatchOptions,
} from "../store.ts";
import { StoreError } from "../store-error.ts";
import { MemoryLeases } from "./memory-leases.ts";
import {
  emptyTree,
  MemoryHistory,
  type Version,
  type VersionChange,
  type VersionEvent,
  versionAt,
} from "./versions.ts";

/** Maximum first revision, which leaves as many. */
const HIGHEST = 2 ** 52;

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * First revision; earlier ones count as compacted. A restored store must continue above every revision that was used
   * before.
   * @default the milliseconds since 2020, so that clients of an earlier process learn that their state is void
   */
  readonly revision?: number;
  /** Time of leases, and so of the time to live of objects. @default the machine's */
  readonly clock?: Clock;
}

/**
 * Creates an in-memory store. Memory grows with its values and their history, until that is compacted (`keepHistory`).
 *
 * @throws StoreError `Invalid` if the revision is not an integer from 1 to 2^52
 *
 * @example
 * ```ts
 * import { memoryStore } from "@virtual-workspaces/store";
 *
 * await using store = memoryStore();
 * const put = { type: "put", key: "books/dune", value: Buffer.from("Dune") } as const;
 * await store.commit({ conditions: [], operations: [put] });
 * ```
 * @see docs/how-to/stores.md
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  if (options.revision !== undefined) checkFirstRevision(options.revision, HIGHEST);
  return new MemoryStore(options);
}

/** The next process starts above them unless there was more than one revision per millisecond. */
const sinceTheEpoch = (): number => Math.max(1, Date.now() - Date.UTC(2020, 0, 1));

class MemoryStore implements Store {
  readonly name = "memory";
  readonly #tree = emptyTree();
  readonly #history: MemoryHistory;
  readonly #hub: WatchHub;
  readonly #leases: MemoryLeases;
  #pruning: Promise<void> | undefined;

  constructor({ revision, clock }: MemoryStoreOptions) {
    this.#leases = new MemoryLeases((keys) => this.#deleteAll(keys), clock);
    const head = revision ?? sinceTheEpoch();
    this.#history = new MemoryHistory({ compacted: head, head });
    this.#hub = new WatchHub(this.#history, { name: this.name, head });
  }

  async head(options?: { readonly signal?: AbortSignal }): Promise<number> {
    this.#check(options?.signal);
    return this.#hub.head;
  }

  get(key: string, options?: { readonly signal?: AbortSignal }): Entry | undefined {
    this.#check(options?.signal);
    const entry = couldBeKey(key) ? this.#tree.get(sortable(key))?.entry : undefined;
    return entry && handOut(entry);
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#check(options.signal);
    checkRange(range);
    checkRangeOptions(options);
    const { revision = this.#hub.head, limit = Number.POSITIVE_INFINITY } = options;
    if (revision > this.#hub.head) throw StoreError.future(revision, this.#hub.head);
    if (revision < this.#history.compacted) throw StoreError.compacted(revision, this.#history.compacted);
    const { from, to } = new SortableRange(range);
    const entries: Entry[] = [];
    let more = false;
    this.#tree.forRange(from, to, false, (_, newest) => {
      const entry = versionAt(newest, revision)?.entry;
      if (entry === undefined) return undefined;
      more = entries.length === limit;
      if (more) return { break: true };
      entries.push(handOut(entry));
      return undefined;
    });
    return { entries, revision, more };
  }

  async commit(transaction: Transaction, options?: { readonly signal?: AbortSignal }): Promise<Outcome> {
    this.#check(options?.signal);
    checkTransaction(transaction);
    const { conditions, operations } = transaction;
    const current = conditions.map(({ key }) => this.#tree.get(sortable(key))?.entry);
    if (conditions.some(({ modRevision }, index) => (current[index]?.modRevision ?? 0) !== modRevision))
      return { committed: false, revision: this.#hub.head, current: current.map((entry) => entry && handOut(entry)) };
    for (const operation of operations)
      if (operation.type === "put" && operation.lease !== undefined) this.#leases.check(operation.lease.id);
    this.#apply(operations);
    return { committed: true, revision: this.#hub.head };
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    return this.#hub.watch(range, options);
  }

  async compact(revision: number): Promise<void> {
    this.#check();
    checkCount("revision to compact to", revision, 0);
    if (revision > this.#hub.head) throw StoreError.future(revision, this.#hub.head);
    if (revision <= this.#history.compacted) return;
    this.#history.compacted = revision;
    this.#pruning ??= this.#prune();
    await this.#pruning;
  }

  async grant(ttl: number): Promise<Lease> {
    this.#check();
    return this.#leases.grant(ttl);
  }

  async renew(lease: Lease): Promise<Lease> {
    this.#check();
    return this.#leases.renew(lease.id);
  }

  async revoke(lease: Lease): Promise<void> {
    this.#check();
    this.#deleteAll(this.#leases.revoke(lease.id));
  }

  async remaining(id: string): Promise<number> {
    this.#check();
    return this.#leases.remaining(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hub.close();
    this.#leases.clear();
    this.#history.clear();
    this.#tree.clear();
  }

  #check(signal?: AbortSignal): void {
    if (this.#hub.closed) throw StoreError.closed(this.name);
    signal?.throwIfAborted();
  }

  #deleteAll(keys: Iterable<string>): void {
    this.#apply(Array.from(keys, (key) => ({ type: "delete", key })));
  }

  /** Applies operations at a new revision, if they change anything. */
  #apply(operations: readonly Operation[]): void {
    const revision = this.#hub.head + 1;
    const events: VersionEvent[] = [];
    for (const operation of operations) {
      const event = this.#change(operation, revision);
      if (event !== undefined) events.push(event);
    }
    if (events.length === 0) return;
    const change: VersionChange = { revision, events };
    this.#history.push(change);
    this.#hub.publish(change);
  }

  #change(operation: Operation, modRevision: number): VersionEvent | undefined {
    const { key } = operation;
    const order = sortable(key);
    const older = this.#tree.get(order);
    const previous = older?.entry;
    if (operation.type === "delete" && previous === undefined) return undefined;
    const entry = operation.type === "put" ? entryOf(operation, modRevision, previous) : undefined;
    if (previous?.lease !== undefined) this.#leases.detach(previous.lease, key);
    if (entry?.lease !== undefined) this.#leases.attach(entry.lease, key);
    const version: Version = { modRevision, entry, older };
    this.#tree.set(order, version);
    return { key, order, entry, previous, version };
  }

  /** Removes compacted changes in slices, so that other work runs in between. */
  async #prune(): Promise<void> {
    for (let changes = this.#history.prune(); changes.length > 0; changes = this.#history.prune()) {
      for (const { order, version } of changes.flatMap(({ events }) => events)) {
        version.older = undefined;
        if (version.entry === undefined && this.#tree.get(order) === version) this.#tree.delete(order);
      }
      await turn();
    }
    this.#pruning = undefined;
  }
}

function entryOf(operation: Operation & { type: "put" }, modRevision: number, previous: Entry | undefined): Entry {
  const { key, value, lease } = operation;
  const createRevision = previous?.createRevision ?? modRevision;
  return { key, value: ownBytes(value), createRevision, modRevision, ...(lease !== undefined && { lease: lease.id }) };
}
