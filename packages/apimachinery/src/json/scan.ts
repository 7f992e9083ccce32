/** Bounds on what a JSON text may hold. Each is of the whole text. @default none */
export interface JsonLimits {
  /** How many different names its members may have. New names are what V8's JSON.parse is slow at. */
  readonly names?: number;
  /** How many objects and arrays it may have. */
  readonly containers?: number;
}

/** What one pass over a JSON text tells before it is parsed. Of use only if the text is JSON. */
export interface JsonFacts {
  readonly depth: number;
  /** Whether a number may be one that `JSON.parse` changes: more than 15 characters, or an exponent of three digits. */
  readonly longNumbers: boolean;
  /** Where the names begin that the same object had before. */
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
 * Reads off what {@link JsonFacts} says, in one pass and without a tree.
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
  /** -1 when no string waits for the colon that would make a name of it: each is read once, whatever the text is. */
  let stringEnd = -1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      stringAt = at;
      stringEnd = endOfString(text, at);
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

/** Where a string ends that begins at `from`: at its closing quote, or behind the text. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at += 1;
    else if (unit === QUOTE) return at;
  }
  return text.length;
}

/** Characters of numbers that are not read off by their range. */
const isNumberPart = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2b || unit === 0x2d || unit === 0x65 || unit === 0x45;

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at += 1;
  return at;
}

/** With two digits, and fifteen characters in all, no number is beyond doubles. */
function hasLongExponent(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x65 || unit === 0x45) return end - at > 3;
  }
  return false;
}

/** The names of a text's members, and those that an object has twice. */
class Names {
  /** Where the names begin that the same object had before, each name of an object once. */
  readonly duplicates: number[] = [];
  readonly #text: string;
  readonly #limit: number;
  /** Names are numbered. V8 hashes them with a seed: whoever writes the text cannot know which collide. */
  readonly #numbers = new Map<string, number>();
  /** The object that has each name: of those that we are within, the innermost. 0 is none; less, it has it twice. */
  readonly #owners: number[] = [];
  /** What `#owners` was before, name by name, to be as before when an object ends. */
  readonly #before: number[] = [];
  /** The objects that we are within, each with how long `#before` was when it began. */
  readonly #within: number[] = [];
  #objects = 0;

  /** @param limit how many different names there may be */
  constructor(text: string, limit: number = Number.POSITIVE_INFINITY) {
    this.#text = text;
    this.#limit = limit;
  }

  /** An object begins. */
  enter(): void {
    this.#objects += 1;
    this.#within.push(this.#objects, this.#before.length);
  }

  /** It ends. */
  leave(): void {
    const length = this.#within.pop() ?? 0;
    this.#within.pop();
    while (this.#before.length > length) {
      const owner = this.#before.pop() ?? 0;
      this.#owners[this.#before.pop() ?? 0] = owner;
    }
  }

  /** The object has a member whose name stands between the quotes at `from` and `end`. @throws RangeError beyond the limit */
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

/** The name between the quotes at `from` and `end`; of a malformed one, its text. */
export function nameAt(text: string, from: number, end: number): string {
  const raw = text.slice(from + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
