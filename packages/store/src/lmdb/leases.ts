import { Expiries } from "../engine/expiries.ts";
import { grantedTtl } from "../engine/limits.ts";
import type { Lease } from "../store.ts";
import { type Draft, leaseNotFound, prepare } from "./draft.ts";
import { integerKey, PLACES_OF_REVISION, readInteger, writeInteger } from "./place.ts";
import type { Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** So many keys of a lease go in one group. */
const SLICE = 8 * PLACES_OF_REVISION;

/** After an expiry that failed, s: a full disk, of which those hear who write. */
const RETRY = 1;

interface Held {
  /** s. */
  readonly ttl: number;
  /** When it is over, ms since 1970: what a restart goes on with. */
  readonly expires: number;
}

/** The leases that go on. */
export type LeaseTable = Map<number, Held>;

export function loadLeases({ leases }: Pick<Tables, "leases">): LeaseTable {
  const held: LeaseTable = new Map();
  for (const { key, value } of leases.getRange({})) held.set(readInteger(key, 0), decodeHeld(value));
  return held;
}

/** What is left of a lease that another process keeps, s; `undefined`: it is over, or never was. */
export function remainingIn({ leases }: Pick<Tables, "leases">, id: string): number | undefined {
  const number = Number(id);
  const bytes =
    String(number) === id && number > 0 && Number.isSafeInteger(number)
      ? leases.getBinary(integerKey(number))
      : undefined;
  return bytes && remainingOf(decodeHeld(bytes));
}

function remainingOf({ ttl, expires }: Held): number {
  return Math.min(ttl, Math.max(0, (expires - Date.now()) / 1000));
}

export function leaseNumber(table: LeaseTable, id: string): number | undefined {
  const number = Number(id);
  return String(number) === id && table.has(number) ? number : undefined;
}

/** Grants leases and ends them when it is time. */
export class Leases implements Disposable {
  readonly #leased: Tables["leased"];
  readonly #table: LeaseTable;
  readonly #writer: Writer;
  readonly #expiries = new Expiries((id) => void this.#expire(Number(id)));

  constructor({ tables, table, writer }: { tables: Tables; table: LeaseTable; writer: Writer }) {
    this.#leased = tables.leased;
    this.#table = table;
    this.#writer = writer;
    for (const [number, held] of table) this.#watch(number, held);
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
    await this.#end(number, () => this.#table.has(number));
  }

  remaining(id: string): number {
    return remainingOf(this.#find(id));
  }

  [Symbol.dispose](): void {
    this.#expiries.clear();
  }

  #find(id: string): Held & { readonly number: number } {
    const number = leaseNumber(this.#table, id);
    const held = number === undefined ? undefined : this.#table.get(number);
    if (number === undefined || held === undefined) throw leaseNotFound(id);
    return { ...held, number };
  }

  #begin(number: number, ttl: number, draft: Draft): Lease {
    const held = { ttl, expires: Date.now() + ttl * 1000 };
    draft.write("leases", integerKey(number), encodeHeld(held));
    draft.whenDurable(() => {
      this.#table.set(number, held);
      this.#watch(number, held);
    });
    return { id: String(number), ttl };
  }

  #watch(number: number, { expires }: Held): void {
    this.#expiries.set(String(number), (expires - Date.now()) / 1000);
  }

  async #expire(number: number): Promise<void> {
    try {
      await this.#end(number, () => (this.#table.get(number)?.expires ?? Number.POSITIVE_INFINITY) <= Date.now());
    } catch {
      if (!this.#writer.isClosed) this.#expiries.set(String(number), RETRY);
      return;
    }
    const held = this.#table.get(number);
    if (held !== undefined) this.#watch(number, held); // the clock was set back, or it was renewed meanwhile
  }

  /** Ends a lease with its keys, a slice of them at a time, as long as it is to end. */
  async #end(number: number, isToEnd: () => boolean): Promise<void> {
    for (let more = true; more; ) {
      more = await this.#writer.run((draft) => isToEnd() && this.#slice(number, draft));
    }
  }

  /** @returns whether keys are left */
  #slice(number: number, draft: Draft): boolean {
    const start = integerKey(number);
    const leased = [...this.#leased.getKeys({ start, end: integerKey(number + 1), limit: SLICE })];
    for (let from = 0; from < leased.length; from += PLACES_OF_REVISION) {
      const keys = leased.slice(from, from + PLACES_OF_REVISION).map((key) => key.toString("utf8", start.length));
      draft.add(prepare({ conditions: [], operations: keys.map((key) => ({ type: "delete", key })) }));
    }
    if (leased.length === SLICE) return true;
    draft.write("leases", start);
    draft.whenDurable(() => {
      this.#table.delete(number);
      this.#expiries.delete(String(number));
    });
    return false;
  }
}

function decodeHeld(bytes: Buffer): Held {
  return { ttl: readInteger(bytes, 0), expires: readInteger(bytes, 8) };
}

function encodeHeld({ ttl, expires }: Held): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  writeInteger(bytes, ttl, 0);
  writeInteger(bytes, expires, 8);
  return bytes;
}
