import { isStrictIp } from "./network.ts";

/** Maximum length of an address, which bounds the work. */
const LONGEST = 10_000;

/** Whether Go's mail.ParseAddress accepts a mail address: `a@b`, `Name <a@b>`, with comments, or a group of one. */
export function isEmail(text: string): boolean {
  if (text.length > LONGEST) return false;
  const reader = new Reader(text);
  return reader.address(true) === 1 && reader.comments() && reader.ended;
}

const SPACE = /[ \t]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they may not be in an atom
const ATOM = /[^\x00-\x20\x7f()<>[\]:;@\\,"]+/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they may not be in a quoted text
const QUOTED = /"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*"/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they may not be in a literal
const LITERAL = /\[[^\x00-\x20\x7f[\]\\]*\]/y;

/** Reads a text from left to right. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.#at === this.#text.length;
  }

  /** Returns the number of addresses: one, or those of a group; negative for an invalid text. */
  address(groups: boolean): number {
    this.#take(SPACE);
    if (this.#specification()) {
      this.#take(SPACE);
      return !this.#sees("(") || this.#comment() ? 1 : -1;
    }
    if (!this.#sees("<") && !this.#phrase()) return -1;
    this.#take(SPACE);
    if (groups && this.#takes(":")) return this.#group();
    return this.#takes("<") && this.#specification() && this.#takes(">") ? 1 : -1;
  }

  /** Skips space and comments; returns false for an unclosed comment. */
  comments(): boolean {
    this.#take(SPACE);
    while (this.#sees("(")) {
      if (!this.#comment()) return false;
      this.#take(SPACE);
    }
    return true;
  }

  #group(): number {
    let count = 0;
    this.#take(SPACE);
    if (this.#takes(";")) return this.comments() ? 0 : -1;
    for (;;) {
      this.#take(SPACE);
      if (this.address(false) < 0 || !this.comments()) return -1;
      count += 1;
      if (this.#takes(";")) return this.comments() ? count : -1;
      if (!this.#takes(",")) return -1;
    }
  }

  /** Reads `local@domain`; takes nothing if there is none. */
  #specification(): boolean {
    const start = this.#at;
    if (this.#local() && this.#takes("@") && this.#domain()) return true;
    this.#at = start;
    return false;
  }

  #local(): boolean {
    this.#take(SPACE);
    return this.#sees('"') ? this.#take(QUOTED).length > 2 : isDotted(this.#take(ATOM));
  }

  #domain(): boolean {
    this.#take(SPACE);
    return this.#sees("[") ? isStrictIp(this.#take(LITERAL).slice(1, -1)) : isDotted(this.#take(ATOM));
  }

  /** Reads one or more words: atoms and quoted texts. */
  #phrase(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.comments()) return false;
      this.#take(SPACE);
      if (this.#take(this.#sees('"') ? QUOTED : ATOM) === "") return words > 0 || this.ended;
    }
  }

  #comment(): boolean {
    let depth = 0;
    do {
      if (this.ended) return false;
      if (this.#sees("\\") && this.#at + 1 < this.#text.length) this.#at += 1;
      else if (this.#sees("(")) depth += 1;
      else if (this.#sees(")")) depth -= 1;
      this.#at += 1;
    } while (depth > 0);
    return true;
  }

  #sees(character: string): boolean {
    return this.#text[this.#at] === character;
  }

  #takes(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}

function isDotted(atom: string): boolean {
  return atom !== "" && !atom.startsWith(".") && !atom.endsWith(".") && !atom.includes("..");
}
