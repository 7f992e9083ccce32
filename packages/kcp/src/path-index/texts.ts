/** A text that many logical clusters have in common, and how many do. */
export interface SharedText {
  readonly text: string;
  uses: number;
}

const ASCII = /^[\0-\x7f]*$/;

/** The same text in memory of its own: a piece cut out of a longer text would keep all of that alive. */
export function ownCopy(text: string): string {
  const encoding = ASCII.test(text) ? "latin1" : "utf16le";
  return Buffer.from(text, encoding).toString(encoding);
}

/** Texts that are kept once, as long as somebody uses them. */
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
