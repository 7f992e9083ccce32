/** Maximum number of names, and length of a name in characters: clients may invent names. */
const MOST = 1000;
const LONGEST = 64;

/** Cached predicate on header names: clients send the same few names again and again. */
export class KnownNames {
  readonly #find: (name: string) => boolean;
  readonly #known = new Map<string, boolean>();

  constructor(find: (name: string) => boolean) {
    this.#find = find;
  }

  has(name: string): boolean {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = this.#find(name);
    if (name.length > LONGEST) return found;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(name, found);
    return found;
  }
}
