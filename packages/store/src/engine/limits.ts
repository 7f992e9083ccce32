import type { KeyRange, RangeOptions, Transaction } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** Bytes of a key in UTF-8. */
const KEY_BYTES = 1024;
/** Bytes of a value. */
const VALUE_BYTES = 8 * 1024 * 1024;
/** Of operations in a transaction, and of conditions. */
const MOST = 128;

/** @throws StoreError `Invalid` or `TooLarge`, for what no engine takes */
export function checkTransaction({ conditions, operations }: Transaction): void {
  for (const [what, { length }] of Object.entries({ conditions, operations }))
    if (length > MOST) throw new StoreError("TooLarge", `a transaction has up to ${MOST} ${what}, not ${length}`);
  for (const { key, modRevision } of conditions) {
    checkKey(key);
    checkCount("the modRevision of a condition", modRevision, 0);
  }
  for (const operation of operations) {
    checkKey(operation.key);
    if (operation.type === "put" && operation.value.length > VALUE_BYTES)
      throw tooLarge(`the value of ${operation.key}`, operation.value.length, VALUE_BYTES);
  }
  if (operations.length > 1 && new Set(operations.map(({ key }) => key)).size < operations.length)
    throw new StoreError("Invalid", "a transaction names a key twice: put its operations together");
}

function checkKey(key: string): void {
  if (key === "") throw new StoreError("Invalid", "a key is empty");
  if (!key.isWellFormed()) throw new StoreError("Invalid", "a key is no text: it holds half of a surrogate pair");
  if (!isShort(key)) throw tooLarge(`the key ${key.slice(0, 64)}…`, Buffer.byteLength(key), KEY_BYTES);
}

function isShort(key: string): boolean {
  return key.length * 3 <= KEY_BYTES || Buffer.byteLength(key) <= KEY_BYTES; // a code unit becomes three bytes at most
}

/** Whether something may stand at a key: asking for what no engine takes finds nothing. */
export function couldBeKey(key: string): boolean {
  return key !== "" && key.isWellFormed() && isShort(key);
}

function tooLarge(what: string, bytes: number, most: number): StoreError {
  return new StoreError("TooLarge", `${what} has ${bytes} bytes, of ${most} at most`);
}

/** @throws StoreError `Invalid` */
export function checkRange({ from, to }: KeyRange): void {
  if (!from.isWellFormed() || !to.isWellFormed())
    throw new StoreError("Invalid", "a bound of a range is no text: it holds half of a surrogate pair");
}

/** @throws StoreError `Invalid` */
export function checkRangeOptions({ limit, revision }: RangeOptions): void {
  if (limit !== undefined) checkCount("the limit of a range", limit, 1);
  if (revision !== undefined) checkCount("the revision of a range", revision, 1);
}

/** @throws StoreError `Invalid` */
export function checkCount(what: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new StoreError("Invalid", `${what} is ${value}: it must be an integer from ${least}`);
}

/** @param most leaves as many revisions to go on with. @throws StoreError `Invalid` */
export function checkFirstRevision(revision: number, most: number): void {
  checkCount("the revision to begin at", revision, 1);
  if (revision > most) throw new StoreError("Invalid", `the revision to begin at is ${revision}, of ${most} at most`);
}

/** The time to live that is granted for one that is asked for, s. @throws StoreError `Invalid` */
export function grantedTtl(ttl: number): number {
  if (!(ttl >= 1 && ttl <= Number.MAX_SAFE_INTEGER))
    throw new StoreError("Invalid", `a time to live is ${ttl} s: it must be from 1 s`);
  return Math.ceil(ttl);
}
