const BACKSLASH = 0x5c;

/** The names of a text's members, and those that an object has twice. Names are compared in place, not cut out. */
export class Names {
  /** Where the names begin that the same object had before. */
  readonly duplicates: number[] = [];
  readonly #text: string;
  readonly #limit: number;
  /** The object that has each name: of those that we are within, the innermost. 0 is none. */
  readonly #owners: number[] = [];
  /** What `#owners` was before, name by name, to be as before when an object ends. */
  readonly #before: number[] = [];
  /** The objects that we are within, each with how long `#before` was when it began. */
  readonly #within: number[] = [];
  #objects = 0;
  readonly #names: string[] = [];
  readonly #hashes: number[] = [];
  /** The numbers of names by their hashes, raised by one: 0 is free. The length is a power of two. */
  #places = new Int32Array(64);

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
    const hash = hashOf(this.#text, from + 1, end);
    const number =
      hash === undefined ? this.#decoded(nameAt(this.#text, from, end)) : this.#number(this.#text, from + 1, end, hash);
    const object = this.#within[this.#within.length - 2] ?? 0;
    const owner = this.#owners[number] ?? 0;
    if (owner === object) this.duplicates.push(from);
    this.#before.push(number, owner);
    this.#owners[number] = object;
  }

  #decoded(name: string): number {
    return this.#number(name, 0, name.length, hashOf(name, 0, name.length, -1) ?? 0);
  }

  // biome-ignore lint/complexity/useMaxParams: called for every member of every body
  #number(text: string, from: number, end: number, hash: number): number {
    const mask = this.#places.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const number = (this.#places[at] ?? 0) - 1;
      if (number === -1) return this.#insert(text.slice(from, end), hash);
      if (this.#hashes[number] === hash && isAt(this.#names[number] ?? "", text, from, end)) return number;
    }
  }

  #insert(name: string, hash: number): number {
    const number = this.#names.length;
    if (number >= this.#limit) throw new RangeError(`members of more than ${this.#limit} different names`);
    this.#names.push(name);
    this.#hashes.push(hash);
    if (2 * this.#names.length > this.#places.length) {
      this.#places = new Int32Array(4 * this.#places.length);
      for (const [at, known] of this.#hashes.entries()) this.#place(known, at);
    } else this.#place(hash, number);
    return number;
  }

  #place(hash: number, number: number): void {
    const mask = this.#places.length - 1;
    let at = hash & mask;
    while (this.#places[at] !== 0) at = (at + 1) & mask;
    this.#places[at] = number + 1;
  }
}

/** `undefined` when there is an escape in it: such a name is to be decoded first. */
// biome-ignore lint/complexity/useMaxParams: called for every member of every body
function hashOf(text: string, from: number, end: number, forbidden: number = BACKSLASH): number | undefined {
  let hash = 0x811c9dc5;
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === forbidden) return undefined;
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 1;
}

// biome-ignore lint/complexity/useMaxParams: called for every member of every body
function isAt(name: string, text: string, from: number, end: number): boolean {
  if (name.length !== end - from) return false;
  for (let at = 0; at < name.length; at++) if (name.charCodeAt(at) !== text.charCodeAt(from + at)) return false;
  return true;
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
