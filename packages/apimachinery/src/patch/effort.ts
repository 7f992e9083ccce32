import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";

/** How many values one patch may look at: about a tenth of a second, several times what an object of 1 MiB holds. */
const MAX_EFFORT = 1_000_000;

/** Elements of an array that are shifted by one cost next to nothing, each. */
const SHIFTED_PER_VALUE = 128;
/** Members of an object cost more than elements: large objects are hash tables. */
const MEMBER = 3;

/**
 * What a patch has cost so far. Few bytes of patch can ask for much: ten thousand insertions at the head of a long list,
 * ten thousand comparisons of the whole object.
 */
export class Effort {
  #left = MAX_EFFORT;

  /** @throws ApiError 413 when the patch has cost too much */
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

/** How much a JSON value is. */
export interface Measure {
  /** As compact JSON, as Go writes it. */
  bytes: number;
  /** How deep it goes: 0 for a scalar, 1 for an empty object. */
  depth: number;
}

/** Measures `value`, which may not be deeper than `maxDepth`: it is looked at no further. */
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

/** The bytes of a string with its quotes; Go escapes what HTML gives a meaning as well. */
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

/** Whether two JSON values are the same, at a cost that is counted. */
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
