import { grantedTtl } from "../engine/limits.ts";
import { Expiries } from "../engine/timers.ts";
import type { Lease } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { type CommitGroup, leaseNotFound, prepare } from "./commit-group.ts";
import { damaged } from "./faults.ts";
import { integerKey, POSITIONS_PER_REVISION, readInteger, writeInteger } from "./log-record.ts";
import type { Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** Number of keys with leases to process in one group. */
const SLICE = 8 * POSITIONS_PER_REVISION;
/** Delay after a failed expiry, in ms. Writers see the cause, such as a full disk. */
const RETRY = 1000;
const SIZE = 16;

/** Grants and expires leases. While the process lives, it uses the monotonic clock. */
export class LmdbLeases implements Disposable {
  readonly #leased: Tables["leased"];
  readonly #table: LeaseTable;
  readonly #writer: Writer;
  readonly #expiries = new Expiries((id) => {
    this.#due.add(Number(id));
    this.#wake();
  });
  /** Expired leases that still have keys. */
  readonly #due = new Set<number>();
  #reaping: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor({ tables, table, writer }: { tables: Tables; table: LeaseTable; writer: Writer }) {
    this.#leased = tables.leased;
    this.#table = table;
    this.#writer = writer;
    for (const number of table.ending) this.#due.add(number);
    for (const [number, held] of table.going) {
      const left = secondsLeft(held);
      if (left > 0) this.#expiries.set(String(number), left);
      else this.#due.add(number);
    }
    this.#wake();
  }

  async grant(ttl: number): Promise<Lease> {
    const granted = grantedTtl(ttl);
    return await this.#writer.join((group) => {
      const number = group.state.lease + 1;
      group.setState({ lease: number });
      return this.#begin(number, granted, group);
    });
  }

  async renew({ id }: Lease): Promise<Lease> {
    return await this.#writer.join((group) => {
      const { number, ttl } = this.#find(id);
      return this.#begin(number, ttl, group);
    });
  }

  async revoke({ id }: Lease): Promise<void> {
    const { number } = this.#find(id);
    await this.#writer.run((group) => this.#end(this.#find(id).number, group, SLICE));
    try {
      while (this.#due.has(number))
        await this.#writer.run((group) => this.#due.has(number) && this.#end(number, group, SLICE));
    } finally {
      this.#wake();
    }
  }

  remaining(id: string): number {
    this.#find(id);
    return this.#expiries.remaining(id) ?? 0;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#retry);
    this.#expiries.clear();
  }

  #find(id: string): HeldLease & { readonly number: number } {
    const number = leaseNumber(this.#table, id);
    const held = number === undefined ? undefined : this.#table.going.get(number);
    if (number === undefined || held === undefined) throw leaseNotFound(id);
    return { ...held, number };
  }

  #begin(number: number, ttl: number, group: CommitGroup): Lease {
    const held = { ttl, expires: Date.now() + ttl * 1000 };
    group.write("leases", integerKey(number), leaseRow(held));
    group.whenDurable(() => {
      this.#table.going.set(number, held);
      this.#due.delete(number);
      if (!this.#writer.isOver) this.#expiries.set(String(number), ttl);
    });
    return { id: String(number), ttl };
  }

  #wake(): void {
    if (this.#due.size > 0) this.#reaping ??= this.#reap();
  }

  /** Expires due leases, in groups between those of other writers. */
  async #reap(): Promise<void> {
    try {
      while (this.#due.size > 0) await this.#writer.run((group) => this.#slice(group));
    } catch (error) {
      const passes = isStoreError(error) && (error.code === "NoSpace" || error.code === "Unavailable");
      if (passes && !this.#writer.isOver) this.#retry = setTimeout(() => this.#wake(), RETRY).unref();
    }
    this.#reaping = undefined;
  }

  #slice(group: CommitGroup): void {
    let room = SLICE;
    for (const number of this.#due) {
      room -= Math.max(1, this.#endUndamaged(number, group, room));
      if (room <= 0) return;
    }
  }

  /** Expires a lease, but keeps one with unreadable keys, so that the others expire. */
  #endUndamaged(number: number, group: CommitGroup, most: number): number {
    try {
      return this.#end(number, group, most);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Damaged") throw error;
      this.#due.delete(number);
      return 0;
    }
  }

  /** Deletes up to `most` keys of a lease, which is expired from then on. @returns the number of keys */
  #end(number: number, group: CommitGroup, most: number): number {
    const start = integerKey(number);
    const leased = [...this.#leased.getKeys({ start, end: integerKey(number + 1), limit: most })];
    for (let from = 0; from < leased.length; from += POSITIONS_PER_REVISION) {
      const keys = leased.slice(from, from + POSITIONS_PER_REVISION).map((key) => key.toString("utf8", start.length));
      group.add(prepare({ conditions: [], operations: keys.map((key) => ({ type: "delete", key })) }));
    }
    const isGone = leased.length < most;
    group.write("leases", start, isGone ? undefined : leaseRow(OVER));
    group.whenDurable(() => {
      this.#table.going.delete(number);
      this.#expiries.delete(String(number));
      if (isGone) this.#due.delete(number);
      else this.#due.add(number);
    });
    return leased.length;
  }
}

/** Stored lease. */
interface HeldLease {
  /** Time to live, in seconds. */
  readonly ttl: number;
  /** Expiry in ms since 1970, for a restart. */
  readonly expires: number;
}

/** Row of an expired lease that still has keys. */
const OVER: HeldLease = { ttl: 0, expires: 0 };

/** Leases of a store, by number. */
interface LeaseTable {
  readonly going: Map<number, HeldLease>;
  /** Expired leases that still have keys. */
  readonly ending: readonly number[];
}

/** @throws StoreError `Damaged` */
export function loadLeases({ leases }: Pick<Tables, "leases">, dir: string): LeaseTable {
  const going = new Map<number, HeldLease>();
  const ending: number[] = [];
  for (const { key, value } of leases.getRange({})) {
    const held = heldOf(value, dir);
    if (key.length !== 8) throw damaged(dir, "a lease has an invalid number");
    const number = readInteger(key, 0);
    if (isOver(held)) ending.push(number);
    else going.set(number, held);
  }
  return { going, ending };
}

/** Returns the remaining time of a lease of another process, in seconds; `undefined` if it has expired or never existed. */
export function remainingIn({ leases }: Pick<Tables, "leases">, id: string, dir: string): number | undefined {
  const number = numberOf(id);
  const row = number === undefined ? undefined : leases.getBinary(integerKey(number));
  const held = row && heldOf(row, dir);
  return held === undefined || isOver(held) ? undefined : secondsLeft(held);
}

/** Uses the system clock, which may have been set: at most the granted time remains. */
function secondsLeft({ ttl, expires }: HeldLease): number {
  return Math.min(ttl, Math.max(0, (expires - Date.now()) / 1000));
}

/** @returns `undefined` if no lease with this id is active */
export function leaseNumber({ going }: LeaseTable, id: string): number | undefined {
  const number = numberOf(id);
  return number !== undefined && going.has(number) ? number : undefined;
}

/** Encodes a lease. */
function leaseRow({ ttl, expires }: HeldLease): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE);
  writeInteger(bytes, ttl, 0);
  writeInteger(bytes, expires, 8);
  return bytes;
}

function heldOf(row: Buffer, dir: string): HeldLease {
  if (row.length !== SIZE) throw damaged(dir, "a lease is unreadable");
  return { ttl: readInteger(row, 0), expires: readInteger(row, 8) };
}

function isOver({ ttl }: HeldLease): boolean {
  return ttl === OVER.ttl;
}

function numberOf(id: string): number | undefined {
  const number = Number(id);
  return String(number) === id && number > 0 && Number.isSafeInteger(number) ? number : undefined;
}
