/**
 * Where something stands in the log: a revision and a number within it, as one integer. Its eight bytes sort as it does.
 */
export type Place = number;

/** A revision has at most as many changes as a transaction has operations. */
export const PLACES_OF_REVISION = 128;

/** Nowhere: what a key's first entry follows. */
export const NOWHERE: Place = 0;

const HIGH = 2 ** 32;

export function placeOf(revision: number, index: number): Place {
  return revision * PLACES_OF_REVISION + index;
}

export function revisionOf(place: Place): number {
  return Math.floor(place / PLACES_OF_REVISION);
}

/** Integers from 0 to 2^53 - 1 in eight bytes, the greatest byte first. */
export function writeInteger(into: Buffer, value: number, offset: number): void {
  into.writeUInt32BE(Math.floor(value / HIGH), offset);
  into.writeUInt32BE(value % HIGH, offset + 4);
}

export function readInteger(from: Buffer, offset: number): number {
  return from.readUInt32BE(offset) * HIGH + from.readUInt32BE(offset + 4);
}

export function integerKey(value: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeInteger(key, value, 0);
  return key;
}
