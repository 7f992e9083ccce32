import { grantedTtl } from "../engine/limits.ts";
import { Expiries } from "../engine/timers.ts";
import type { Lease } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { type CommitGroup, leaseNotFound, prepare } from "./commit-group.ts";
import { damaged } from "./faults.ts";
import { integerKey, POSITIONS_PER_REVISION, readInteger, writeInteger } from "./log-record.ts";
import type { Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** So many keys of leases go in one group. */
const SLICE = 8 * POSITIONS_PER_REVISION;
/** After an end that failed, ms: a full disk, of which those hear who write. */
const RETRY = 1000;
const SIZE = 16;

/** Grants leases and ends them when it is time. While the process lives its own clock counts, which nobody sets. */
export class LmdbLeases implements Disposable {
  readonly #leased: Tables["leased"];
  readonly #table: LeaseTable;
  readonly #writer: Writer;
  readonly #expiries = new Expiries((id) => {
    this.#due.add(Number(id));
    this.#wake();
  });
  /** Those whose time is over, and those that have lost keys already. */
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

  /** Ends those that are due, with others between: one group at a time waits for its turn. */
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

  /** As `#end`, but where keys of it cannot be read it stays: others end all the same. */
  #endUndamaged(number: number, group: CommitGroup, most: number): number {
    try {
      return this.#end(number, group, most);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Damaged") throw error;
      this.#due.delete(number);
      return 0;
    }
  }

  /** Ends a lease with its keys, up to so many: then it is over, though not gone. @returns how many */
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

/** What is kept of a lease. */
interface HeldLease {
  /** s. */
  readonly ttl: number;
  /** When it is over, ms since 1970: what a restart goes on with. */
  readonly expires: number;
}

/** A lease of which keys are left only because there are many. */
const OVER: HeldLease = { ttl: 0, expires: 0 };

/** The leases of a store, by their numbers. */
interface LeaseTable {
  readonly going: Map<number, HeldLease>;
  /** They are over, but for their keys. */
  readonly ending: readonly number[];
}

/** @throws StoreError `Damaged` */
export function loadLeases({ leases }: Pick<Tables, "leases">, dir: string): LeaseTable {
  const going = new Map<number, HeldLease>();
  const ending: number[] = [];
  for (const { key, value } of leases.getRange({})) {
    const held = heldOf(value, dir);
    if (key.length !== 8) throw damaged(dir, "the number of a lease is none");
    const number = readInteger(key, 0);
    if (isOver(held)) ending.push(number);
    else going.set(number, held);
  }
  return { going, ending };
}

/** What is left of a lease that another process keeps, s; `undefined`: it is over, or never was. */
export function remainingIn({ leases }: Pick<Tables, "leases">, id: string, dir: string): number | undefined {
  const number = numberOf(id);
  const row = number === undefined ? undefined : leases.getBinary(integerKey(number));
  const held = row && heldOf(row, dir);
  return held === undefined || isOver(held) ? undefined : secondsLeft(held);
}

/** By the clock of the machine, which may have been set meanwhile: never more than was granted. */
function secondsLeft({ ttl, expires }: HeldLease): number {
  return Math.min(ttl, Math.max(0, (expires - Date.now()) / 1000));
}

/** @returns `undefined` when no lease with this id goes on */
export function leaseNumber({ going }: LeaseTable, id: string): number | undefined {
  const number = numberOf(id);
  return number !== undefined && going.has(number) ? number : undefined;
}

/** The bytes that are kept of a lease. */
function leaseRow({ ttl, expires }: HeldLease): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE);
  writeInteger(bytes, ttl, 0);
  writeInteger(bytes, expires, 8);
  return bytes;
}

function heldOf(row: Buffer, dir: string): HeldLease {
  if (row.length !== SIZE) throw damaged(dir, "a lease cannot be read");
  return { ttl: readInteger(row, 0), expires: readInteger(row, 8) };
}

function isOver({ ttl }: HeldLease): boolean {
  return ttl === OVER.ttl;
}

function numberOf(id: string): number | undefined {
  const number = Number(id);
  return String(number) === id && number > 0 && Number.isSafeInteger(number) ? number : undefined;
}
