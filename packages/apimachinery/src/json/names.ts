/** The names of a text's members, and those that an object has twice. */
export class Names {
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
