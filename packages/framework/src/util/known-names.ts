/** How many names are kept, and of which length at most, characters: clients make them up. */
const MOST = 1000;
const LONGEST = 64;

/** What holds of the names of headers: clients send the same few again and again, and what was found of them is kept. */
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
