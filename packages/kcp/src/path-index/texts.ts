/** String that several logical clusters share, and their number. */
export interface SharedText {
  readonly text: string;
  uses: number;
}

const ASCII = /^[\0-\x7f]*$/;

/** Copies a string into memory of its own. A slice of a longer string would keep that alive. */
export function ownCopy(text: string): string {
  const encoding = ASCII.test(text) ? "latin1" : "utf16le";
  return Buffer.from(text, encoding).toString(encoding);
}

/** Shared strings, kept while they are in use. */
export class SharedTexts {
  readonly #texts = new Map<string, SharedText>();

  take(text: string): SharedText {
    const known = this.#texts.get(text);
    if (known !== undefined) {
      known.uses++;
      return known;
    }
    const added = { text: ownCopy(text), uses: 1 };
    this.#texts.set(added.text, added);
    return added;
  }

  leave(shared: SharedText | undefined): void {
    if (shared === undefined || --shared.uses > 0) return;
    this.#texts.delete(shared.text);
  }
}
