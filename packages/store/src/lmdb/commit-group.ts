import { sortable } from "../engine/key-order.ts";
import { type Change, handOut, type KeptEvent } from "../engine/watch-hub.ts";
import type { Condition, Entry, Operation, Outcome, Transaction } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { LogReader } from "./log-reader.ts";
import {
  entryOf,
  integerKey,
  isLive,
  type LogPosition,
  type LogRecord,
  logPosition,
  NOWHERE,
  prepareRecord,
  revisionOf,
  sealRecord,
} from "./log-record.ts";
import type { LmdbState, Table, Tables } from "./tables.ts";

/** Transaction with values that no caller can modify. */
export interface PreparedTransaction {
  readonly conditions: readonly Condition[];
  readonly operations: readonly PreparedOperation[];
  readonly bytes: number;
}

interface PreparedOperation {
  readonly type: Operation["type"];
  readonly key: string;
  readonly lease: string | undefined;
  readonly bytes: Buffer;
}

/** Base of a group: tables, reader and leases. */
export interface CommitGroupBase {
  readonly tables: Tables;
  readonly reader: LogReader;
  readonly state: LmdbState;
  /** Returns the number of an active lease. */
  leaseNumber(id: string): number | undefined;
}

type Writable = "keys" | "log" | "leases" | "leased";

/** Group of changes that become durable together or not at all. Nothing is written before `apply`. */
export class CommitGroup {
  readonly #base: CommitGroupBase;
  readonly #writes: { readonly table: Table; readonly key: Buffer; readonly value: Buffer | undefined }[] = [];
  readonly #newest = new Map<string, LogRecord>();
  readonly #changes: { readonly revision: number; readonly events: KeptEvent[] }[] = [];
  readonly #afterwards: (() => void)[] = [];
  #state: LmdbState;

  constructor(base: CommitGroupBase) {
    this.#base = base;
    this.#state = base.state;
  }

  /** State after the group is applied. */
  get state(): LmdbState {
    return this.#state;
  }

  /** Changes of the group, in order. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0 && this.#state === this.#base.state;
  }

  /** Puts a value at a key, or removes the key. */
  write(table: Writable, key: Buffer, value?: Buffer): void {
    this.#writes.push({ table: this.#base.tables[table], key, value });
  }

  setState(state: Partial<LmdbState>): void {
    this.#state = { ...this.#state, ...state };
  }

  /** Registers an update of memory for when the group is durable. */
  whenDurable(work: () => void): void {
    this.#afterwards.push(work);
  }

  /** Runs the registered updates. */
  settle(): void {
    for (const work of this.#afterwards) work();
  }

  /** Adds a transaction if its conditions hold. @throws StoreError and adds nothing */
  add({ conditions, operations }: PreparedTransaction): Outcome {
    const stand = conditions.map(({ key }) => this.#newestOf(key));
    const holds = conditions.every(({ modRevision }, index) => modRevisionOf(stand[index]) === modRevision);
    if (!holds) return { committed: false, revision: this.#state.revision, current: stand.map(copyOf) };
    // Most transactions change the key of their condition, which has been read.
    const before = operations.map(({ key }, at) => (conditions[at]?.key === key ? stand[at] : this.#newestOf(key)));
    const leases = operations.map(({ lease }) => this.#leaseOf(lease));
    const revision = this.#state.revision + 1;
    const events: KeptEvent[] = [];
    for (const [index, operation] of operations.entries()) {
      const position = logPosition(revision, events.length);
      const event = this.#change(operation, { position, before: before[index], lease: leases[index] ?? 0 });
      if (event !== undefined) events.push(event);
    }
    if (events.length > 0) {
      this.#changes.push({ revision, events });
      this.setState({ revision });
    }
    return { committed: true, revision: this.#state.revision };
  }

  /** Writes all changes. Must be called in a batch. */
  apply(): void {
    for (const { table, key, value } of this.#writes) {
      void (value === undefined ? table.remove(key) : table.put(key, value));
    }
    if (this.#state !== this.#base.state) this.#base.tables.setState(this.#state);
  }

  #newestOf(key: string): LogRecord | undefined {
    return this.#newest.get(key) ?? this.#base.reader.newest(key);
  }

  #leaseOf(id: string | undefined): number {
    if (id === undefined) return 0;
    const lease = this.#base.leaseNumber(id);
    if (lease === undefined) throw leaseNotFound(id);
    return lease;
  }

  /** @returns `undefined` if nothing changes */
  #change(
    { type, key, bytes }: PreparedOperation,
    { position, before, lease }: OperationTarget,
  ): KeptEvent | undefined {
    const live = isLive(before);
    if (type === "delete" && !live) return undefined;
    const created = live ? before.createRevision : revisionOf(position);
    const previous = before?.position ?? NOWHERE;
    const record = sealRecord(bytes, {
      position,
      key,
      previous,
      lease,
      createRevision: type === "delete" ? 0 : created,
    });
    const at = integerKey(position);
    this.write("log", at, bytes);
    this.write("keys", Buffer.from(key), at);
    const leased = live ? before.lease : 0;
    if (leased !== lease && leased !== 0) this.write("leased", leasedKey(leased, key));
    if (leased !== lease && lease !== 0) this.write("leased", leasedKey(lease, key), Buffer.alloc(0));
    this.#newest.set(key, record);
    return { key, order: sortable(key), entry: entryOf(record), previous: entryOf(before) };
  }
}

/** Position and previous record of an operation. */
interface OperationTarget {
  readonly position: LogPosition;
  readonly before: LogRecord | undefined;
  readonly lease: number;
}

/** Copies the values of a transaction, which belong to the caller. */
export function prepare({ conditions, operations }: Transaction): PreparedTransaction {
  let bytes = 0;
  const prepared = operations.map((operation): PreparedOperation => {
    const put = operation.type === "put" ? operation : undefined;
    bytes += put?.value.byteLength ?? 0;
    const record = prepareRecord(operation.key, put?.value);
    return { type: operation.type, key: operation.key, lease: put?.lease?.id, bytes: record };
  });
  return { conditions: conditions.map((condition) => ({ ...condition })), operations: prepared, bytes };
}

export function leaseNotFound(id: string): StoreError {
  return new StoreError("LeaseNotFound", `lease ${id} has expired or never existed: grant a new one`);
}

/** Returns the row of a key with a lease: keys of one lease are adjacent, after its number. */
function leasedKey(lease: number, key: string): Buffer {
  return Buffer.concat([integerKey(lease), Buffer.from(key)]);
}

function modRevisionOf(record: LogRecord | undefined): number {
  return isLive(record) ? revisionOf(record.position) : 0;
}

function copyOf(record: LogRecord | undefined): Entry | undefined {
  const entry = entryOf(record);
  return entry && handOut(entry);
}
