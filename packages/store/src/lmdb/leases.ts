import { Expiries } from "../engine/expiries.ts";
import { grantedTtl } from "../engine/limits.ts";
import type { Lease } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { type Draft, leaseNotFound, prepare } from "./draft.ts";
import { type Held, type LeaseTable, leaseNumber, leaseRow, OVER, secondsLeft } from "./lease-table.ts";
import { integerKey, PLACES_OF_REVISION } from "./place.ts";
import type { Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** So many keys of leases go in one group. */
const SLICE = 8 * PLACES_OF_REVISION;

/** After an end that failed, ms: a full disk, of which those hear who write. */
const RETRY = 1000;

/** Grants leases and ends them when it is time. While the process lives its own clock counts, which nobody sets. */
export class Leases implements Disposable {
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
    return await this.#writer.join((draft) => {
      const number = draft.state.lease + 1;
      draft.setState({ lease: number });
      return this.#begin(number, granted, draft);
    });
  }

  async renew({ id }: Lease): Promise<Lease> {
    return await this.#writer.join((draft) => {
      const { number, ttl } = this.#find(id);
      return this.#begin(number, ttl, draft);
    });
  }

  async revoke({ id }: Lease): Promise<void> {
    const { number } = this.#find(id);
    await this.#writer.run((draft) => this.#end(this.#find(id).number, draft, SLICE));
    try {
      while (this.#due.has(number))
        await this.#writer.run((draft) => this.#due.has(number) && this.#end(number, draft, SLICE));
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

  #find(id: string): Held & { readonly number: number } {
    const number = leaseNumber(this.#table, id);
    const held = number === undefined ? undefined : this.#table.going.get(number);
    if (number === undefined || held === undefined) throw leaseNotFound(id);
    return { ...held, number };
  }

  #begin(number: number, ttl: number, draft: Draft): Lease {
    const held = { ttl, expires: Date.now() + ttl * 1000 };
    draft.write("leases", integerKey(number), leaseRow(held));
    draft.whenDurable(() => {
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
      while (this.#due.size > 0) await this.#writer.run((draft) => this.#slice(draft));
    } catch (error) {
      const passes = isStoreError(error) && (error.code === "NoSpace" || error.code === "Unavailable");
      if (passes && !this.#writer.isOver) this.#retry = setTimeout(() => this.#wake(), RETRY).unref();
    }
    this.#reaping = undefined;
  }

  #slice(draft: Draft): void {
    let room = SLICE;
    for (const number of this.#due) {
      room -= Math.max(1, this.#endUndamaged(number, draft, room));
      if (room <= 0) return;
    }
  }

  /** As `#end`, but where keys of it cannot be read it stays: others end all the same. */
  #endUndamaged(number: number, draft: Draft, most: number): number {
    try {
      return this.#end(number, draft, most);
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Damaged") throw error;
      this.#due.delete(number);
      return 0;
    }
  }

  /** Ends a lease with its keys, up to so many: then it is over, though not gone. @returns how many */
  #end(number: number, draft: Draft, most: number): number {
    const start = integerKey(number);
    const leased = [...this.#leased.getKeys({ start, end: integerKey(number + 1), limit: most })];
    for (let from = 0; from < leased.length; from += PLACES_OF_REVISION) {
      const keys = leased.slice(from, from + PLACES_OF_REVISION).map((key) => key.toString("utf8", start.length));
      draft.add(prepare({ conditions: [], operations: keys.map((key) => ({ type: "delete", key })) }));
    }
    const isGone = leased.length < most;
    draft.write("leases", start, isGone ? undefined : leaseRow(OVER));
    draft.whenDurable(() => {
      this.#table.going.delete(number);
      this.#expiries.delete(String(number));
      if (isGone) this.#due.delete(number);
      else this.#due.add(number);
    });
    return leased.length;
  }
}
