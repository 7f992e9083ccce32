import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";

/** Maximum number of values that one patch may visit. Takes about 0.1 s; several times the values in an object of 1 MiB. */
const MAX_EFFORT = 1_000_000;

/** Array elements that may be shifted at the cost of one value: a shift is very cheap. */
const SHIFTED_PER_VALUE = 128;
/** Cost of an object member relative to an element: large objects are hash tables. */
const MEMBER = 3;

/**
 * Cost of a patch so far. Security: few bytes of patch can cause much work, such as ten thousand insertions at the head of a
 * long list or ten thousand comparisons of the whole object.
 */
export class Effort {
  #left = MAX_EFFORT;

  /** @throws ApiError 413 if the patch exceeds its limit */
  spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0)
      throw ApiError.requestEntityTooLarge("the patch moves or compares too many values; split it into several");
  }

  spendMembers(count: number): void {
    this.spend(MEMBER * count);
  }

  shift(elements: number): void {
    this.spend(elements / SHIFTED_PER_VALUE);
  }
}

/** Size of a JSON value. */
export interface Measure {
  /** Length as compact JSON in Go's encoding. */
  bytes: number;
  /** Nesting depth: 0 for a scalar, 1 for an empty object. */
  depth: number;
}

/** Measures `value`, and stops at values deeper than `maxDepth`. */
export function measure(value: unknown, maxDepth: number, effort: Effort): Measure {
  const total: Measure = { bytes: 0, depth: 0 };
  const add = (part: unknown, depth: number): void => {
    effort.spend(1);
    if (typeof part === "string") total.bytes += stringBytes(part);
    else if (typeof part !== "object" || part === null) total.bytes += String(part).length;
    else if (depth <= maxDepth + 1) {
      total.depth = Math.max(total.depth, depth);
      if (Array.isArray(part)) addItems(part, depth);
      else addMembers(part as JsonObject, depth);
    }
  };
  const addItems = (items: readonly unknown[], depth: number): void => {
    total.bytes += 2 + Math.max(0, items.length - 1);
    for (const item of items) add(item, depth + 1);
  };
  const addMembers = (object: JsonObject, depth: number): void => {
    const names = Object.keys(object);
    effort.spendMembers(names.length);
    total.bytes += 2 + Math.max(0, names.length - 1) + names.length;
    for (const name of names) {
      total.bytes += stringBytes(name);
      add(memberOf(object, name), depth + 1);
    }
  };
  add(value, 1);
  return total;
}

const PLAIN = /^[\x20\x21\x23-\x25\x27-\x3b\x3d\x3f-\x5b\x5d-\x7e]*$/;
const SHORT_ESCAPES = new Set('"\\\b\f\n\r\t');

/** Returns the encoded length of a string with its quotes. Go escapes HTML characters as well. */
function stringBytes(text: string): number {
  if (PLAIN.test(text)) return text.length + 2;
  let bytes = 2;
  for (const character of text) bytes += characterBytes(character, character.codePointAt(0) ?? 0);
  return bytes;
}

function characterBytes(character: string, point: number): number {
  if (SHORT_ESCAPES.has(character)) return 2;
  if (point < 0x20 || point === 0x2028 || point === 0x2029 || "<>&".includes(character)) return 6;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/** Compares two JSON values and counts the cost. */
export function same(a: unknown, b: unknown, effort: Effort): boolean {
  effort.spend(1);
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at], effort));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  effort.spendMembers(names.length);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && same(memberOf(a, name), memberOf(b, name), effort));
}
