import { damaged } from "./faults.ts";
import { integerKey, readInteger, writeInteger } from "./place.ts";
import type { Tables } from "./tables.ts";

const SIZE = 16;

/** What is kept of a lease. */
export interface Held {
  /** s. */
  readonly ttl: number;
  /** When it is over, ms since 1970: what a restart goes on with. */
  readonly expires: number;
}

/** A lease of which keys are left only because there are many. */
export const OVER: Held = { ttl: 0, expires: 0 };

/** The leases of a store, by their numbers. */
export interface LeaseTable {
  readonly going: Map<number, Held>;
  /** They are over, but for their keys. */
  readonly ending: readonly number[];
}

/** @throws StoreError `Damaged` */
export function loadLeases({ leases }: Pick<Tables, "leases">, dir: string): LeaseTable {
  const going = new Map<number, Held>();
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
export function secondsLeft({ ttl, expires }: Held): number {
  return Math.min(ttl, Math.max(0, (expires - Date.now()) / 1000));
}

/** @returns `undefined` when no lease with this id goes on */
export function leaseNumber({ going }: LeaseTable, id: string): number | undefined {
  const number = numberOf(id);
  return number !== undefined && going.has(number) ? number : undefined;
}

/** The bytes that are kept of a lease. */
export function leaseRow({ ttl, expires }: Held): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE);
  writeInteger(bytes, ttl, 0);
  writeInteger(bytes, expires, 8);
  return bytes;
}

function heldOf(row: Buffer, dir: string): Held {
  if (row.length !== SIZE) throw damaged(dir, "a lease cannot be read");
  return { ttl: readInteger(row, 0), expires: readInteger(row, 8) };
}

function isOver({ ttl }: Held): boolean {
  return ttl === OVER.ttl;
}

function numberOf(id: string): number | undefined {
  const number = Number(id);
  return String(number) === id && number > 0 && Number.isSafeInteger(number) ? number : undefined;
}
