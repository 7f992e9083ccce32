/** Limits on a JSON text. Each applies to the whole text. @default none */
export interface JsonLimits {
  /** Maximum number of different member names. V8's JSON.parse is slow with new names. */
  readonly names?: number;
  /** Maximum number of objects and arrays. */
  readonly containers?: number;
}

/** Facts that one pass over a JSON text finds before it is parsed. Meaningful only if the text is JSON. */
export interface JsonFacts {
  readonly depth: number;
  /** Whether `JSON.parse` may change a number: one of more than 15 characters, or with an exponent of three digits. */
  readonly longNumbers: boolean;
  /** Positions of names that the same object already had. */
  readonly duplicates: readonly number[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;

/**
 * Finds the {@link JsonFacts} of a text in one pass, without building a tree.
 *
 * @throws RangeError beyond the limits
 */
export function scanJson(text: string, limits: JsonLimits = {}): JsonFacts {
  const { containers: maxContainers = Number.POSITIVE_INFINITY } = limits;
  const names = new Names(text, limits.names);
  let containers = 0;
  let depth = 0;
  let deepest = 0;
  let longNumbers = false;
  let stringAt = 0;
  /** -1 unless a string awaits the colon that makes it a name: each string is read once, whatever the text is. */
  let stringEnd = -1;
  /** Next backslash, found by one search for each, so that strings without any are skipped natively. */
  let backslash = positionOf("\\", text, 0);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      stringAt = at;
      if (backslash < at) backslash = positionOf("\\", text, at);
      const quote = positionOf('"', text, at + 1);
      stringEnd = quote < backslash ? quote : endOfString(text, at);
      at = stringEnd;
    } else if (unit === COLON) {
      if (stringEnd !== -1) names.add(stringAt, stringEnd);
      stringEnd = -1;
    } else if (unit === OBJECT || unit === ARRAY) {
      containers += 1;
      if (containers > maxContainers) throw new RangeError(`more than ${maxContainers} objects and arrays`);
      if (unit === OBJECT) names.enter();
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (unit === OBJECT_END || unit === ARRAY_END) {
      if (unit === OBJECT_END) names.leave();
      depth -= 1;
    } else if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) {
      const end = endOfNumber(text, at);
      longNumbers ||= end - at > 15 || hasLongExponent(text, at, end);
      at = end - 1;
    }
  }
  return { depth: deepest, longNumbers, duplicates: names.duplicates };
}

/** Returns the position of a character from `from` on, or the end of the text. */
function positionOf(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

/** Returns the position of the closing quote of the string that begins at `from`, or the end of the text. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at += 1;
    else if (unit === QUOTE) return at;
  }
  return text.length;
}

/** Characters that continue a number. */
const isNumberPart = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2b || unit === 0x2d || unit === 0x65 || unit === 0x45;

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at += 1;
  return at;
}

/** A number with a two-digit exponent and at most 15 characters is always within doubles. */
function hasLongExponent(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x65 || unit === 0x45) return end - at > 3;
  }
  return false;
}

/** Member names of a text, and duplicates within an object. */
class Names {
  /** Positions of names that the same object already had, once for each name of an object. */
  readonly duplicates: number[] = [];
  readonly #text: string;
  readonly #limit: number;
  /** Numbers of the names. Security: V8 hashes names with a seed, so the author of the text cannot construct collisions. */
  readonly #numbers = new Map<string, number>();
  /** Innermost open object that has each name. 0 is none; a negative number means that the object has the name twice. */
  readonly #owners: number[] = [];
  /** Overwritten entries of `#owners` with their names, to restore when an object ends. */
  readonly #before: number[] = [];
  /** Open objects, each with the length of `#before` at its beginning. */
  readonly #within: number[] = [];
  #objects = 0;

  /** @param limit Maximum number of different names. */
  constructor(text: string, limit: number = Number.POSITIVE_INFINITY) {
    this.#text = text;
    this.#limit = limit;
  }

  /** Begins an object. */
  enter(): void {
    this.#objects += 1;
    this.#within.push(this.#objects, this.#before.length);
  }

  /** Ends the innermost object. */
  leave(): void {
    const length = this.#within.pop() ?? 0;
    this.#within.pop();
    while (this.#before.length > length) {
      const owner = this.#before.pop() ?? 0;
      this.#owners[this.#before.pop() ?? 0] = owner;
    }
  }

  /** Adds the member name between the quotes at `from` and `end` to the object. @throws RangeError beyond the limit */
  add(from: number, end: number): void {
    const number = this.#numberOf(nameAt(this.#text, from, end));
    const object = this.#within[this.#within.length - 2] ?? 0;
    const owner = this.#owners[number] ?? 0;
    if (owner === -object) return;
    if (owner === object) {
      this.duplicates.push(from);
      this.#owners[number] = -object;
      return;
    }
    this.#before.push(number, owner);
    this.#owners[number] = object;
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    if (number >= this.#limit) throw new RangeError(`members of more than ${this.#limit} different names`);
    this.#numbers.set(name, number);
    return number;
  }
}

/** Returns the name between the quotes at `from` and `end`; the raw text of a malformed one. */
export function nameAt(text: string, from: number, end: number): string {
  const raw = text.slice(from + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
