import type { KeyRange, RangeOptions, Transaction } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** Maximum size of a key, in bytes of UTF-8. */
const KEY_BYTES = 1024;
/** Maximum size of a value, in bytes. */
const VALUE_BYTES = 8 * 1024 * 1024;
/** Maximum number of operations, and of conditions, in a transaction. */
const MOST = 128;

/** Validates a transaction against the limits of all engines. @throws StoreError `Invalid` or `TooLarge` */
export function checkTransaction({ conditions, operations }: Transaction): void {
  checkNumber("conditions", conditions.length);
  checkNumber("operations", operations.length);
  for (const { key, modRevision } of conditions) {
    checkKey(key);
    checkCount("modRevision of a condition", modRevision, 0);
  }
  for (const operation of operations) {
    checkKey(operation.key);
    if (operation.type === "put" && operation.value.length > VALUE_BYTES)
      throw tooLarge(`value of ${operation.key}`, operation.value.length, VALUE_BYTES);
  }
  if (operations.length > 1 && new Set(operations.map(({ key }) => key)).size < operations.length)
    throw new StoreError("Invalid", "invalid transaction: it names a key twice: merge the operations of the key");
}

function checkNumber(what: string, length: number): void {
  if (length > MOST)
    throw new StoreError("TooLarge", `too many ${what} in a transaction: ${length}: use at most ${MOST}`);
}

function checkKey(key: string): void {
  if (key === "") throw new StoreError("Invalid", 'invalid key "": use at least one character');
  if (!key.isWellFormed())
    throw new StoreError("Invalid", "invalid key: it has half of a surrogate pair: use well-formed Unicode");
  if (!isShort(key)) throw tooLarge(`key ${key.slice(0, 64)}…`, Buffer.byteLength(key), KEY_BYTES);
}

function isShort(key: string): boolean {
  return key.length * 3 <= KEY_BYTES || Buffer.byteLength(key) <= KEY_BYTES; // a code unit has at most three bytes in UTF-8
}

/** Returns whether a key is valid. A read of an invalid key finds nothing. */
export function couldBeKey(key: string): boolean {
  return key !== "" && key.isWellFormed() && isShort(key);
}

function tooLarge(what: string, bytes: number, most: number): StoreError {
  return new StoreError("TooLarge", `${what} has ${bytes} bytes: use at most ${most}`);
}

/** @throws StoreError `Invalid` */
export function checkRange({ from, to }: KeyRange): void {
  if (!from.isWellFormed() || !to.isWellFormed())
    throw new StoreError(
      "Invalid",
      "invalid bound of a range: it has half of a surrogate pair: use well-formed Unicode",
    );
}

/** @throws StoreError `Invalid` */
export function checkRangeOptions({ limit, revision }: RangeOptions): void {
  if (limit !== undefined) checkCount("limit of a range", limit, 1);
  if (revision !== undefined) checkCount("revision of a range", revision, 1);
}

/** @throws StoreError `Invalid` */
export function checkCount(what: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new StoreError("Invalid", `invalid ${what} "${value}": use an integer of at least ${least}`);
}

/** @param most highest value that leaves enough revisions. @throws StoreError `Invalid` */
export function checkFirstRevision(revision: number, most: number): void {
  checkCount("first revision", revision, 1);
  if (revision > most) throw new StoreError("Invalid", `invalid first revision "${revision}": use at most ${most}`);
}

/** Returns the granted time to live of a lease, in seconds. @throws StoreError `Invalid` */
export function grantedTtl(ttl: number): number {
  if (!(ttl >= 1 && ttl <= Number.MAX_SAFE_INTEGER))
    throw new StoreError("Invalid", `invalid time to live "${ttl}" of a lease: use at least 1 s`);
  return Math.ceil(ttl);
}
