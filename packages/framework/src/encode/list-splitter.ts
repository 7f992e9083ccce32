import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./scan-metadata.ts";

/** Callbacks for the parts of a list that {@link ListSplitter} finds, in order. */
export interface ListParts {
  /**
   * Bytes before and after the items, including the brackets: without items and commas they are the JSON of an empty list.
   */
  around(bytes: Buffer): void;
  /** Bytes between two items. @default dropped */
  between?(bytes: Buffer): void;
  /** One complete item, in memory that may be shared with adjacent bytes. */
  item(bytes: Buffer): void;
}

/** Size limits for the parts of a list. */
export interface SplitterLimits {
  /** Limit of one item, in bytes. @default 16 MiB */
  readonly item?: number;
  /** Limit of everything outside the items, in bytes. @default 4 MiB */
  readonly around?: number;
}

const ITEMS = "items";
/** Length if every character is escaped, as in `\u0069`. */
const LONGEST_ITEMS = 6 * ITEMS.length;

/**
 * Splits the JSON of a list, as it arrives, into items and the rest. A list of any length takes as much memory as its largest
 * item. `items` may be anywhere in the list. It looks only at strings and brackets; the reader of an item must check that it
 * is valid JSON.
 */
export class ListSplitter {
  readonly #parts: ListParts;
  readonly #limits: Required<SplitterLimits>;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inItems = false;
  #found = false;
  /** Last string of the top level that could be a name, unescaped only as far as needed to recognize `items`. */
  #name: number[] = [];
  #naming = false;
  #isItems = false;
  #begun: Buffer[] = [];
  #length = 0;
  #around = 0;
  #ended = false;

  constructor(parts: ListParts, limits: SplitterLimits = {}) {
    this.#parts = parts;
    this.#limits = { item: 16 * 2 ** 20, around: 4 * 2 ** 20, ...limits };
  }

  /** Processes the next bytes. @throws SyntaxError when they cannot be a list, RangeError beyond the limits */
  push(piece: Buffer): void {
    let from = 0;
    let at = 0;
    const end = piece.length;
    while (at < end) {
      if (this.#inString) {
        at = this.#string(piece, at);
        continue;
      }
      if (this.#inItems && this.#depth > 2) {
        at = this.#item(piece, at);
        if (this.#depth > 2) continue;
        this.#tellItem(piece.subarray(from, at));
        from = at;
        continue;
      }
      const byte = piece[at] as number;
      switch (byte) {
        case QUOTE:
          this.#quote();
          break;
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          if (this.#inItems && this.#depth === 2) {
            if (byte === OPEN_ARRAY) refuse("an item is not an object");
            this.#tellOthers(piece, from, at);
            from = at;
          }
          if (this.#open(byte)) {
            this.#tellAround(piece, from, at + 1);
            from = at + 1;
          }
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          this.#close();
          if (this.#inItems && this.#depth === 1) {
            this.#tellOthers(piece, from, at);
            from = at;
            this.#inItems = false;
          }
          break;
        default:
          if (this.#depth === 0 && byte > 32) refuse("not a list");
          if (this.#inItems && this.#depth === 2 && byte > 32 && byte !== COMMA) refuse("an item is not an object");
          if (this.#depth === 1 && byte === COMMA) this.#isItems = false;
      }
      at += 1;
    }
    if (this.#inItems && this.#depth > 2) this.#keep(piece.subarray(from));
    else this.#tellOthers(piece, from, end);
  }

  /** Ends the input. @throws SyntaxError when the list is incomplete */
  end(): void {
    if (!this.#ended) refuse("the list is incomplete");
  }

  #string(piece: Buffer, start: number): number {
    let at = start;
    const end = piece.length;
    if (this.#escaped) {
      this.#escaped = false;
      this.#spell(piece[at] as number);
      at += 1;
    }
    const quote = closingQuote(piece, at);
    if (this.#naming) for (const byte of piece.subarray(at, quote)) this.#spell(byte);
    this.#escaped = quote > end;
    this.#inString = quote >= end;
    if (this.#naming && !this.#inString) this.#named();
    return Math.min(quote + 1, end);
  }

  /** Returns the position after an item, or the end of the bytes. */
  #item(piece: Buffer, start: number): number {
    const end = piece.length;
    let depth = this.#depth;
    let at = start;
    for (; at < end && depth > 2; at++) {
      const byte = piece[at];
      if (byte === QUOTE) {
        const quote = closingQuote(piece, at + 1);
        this.#escaped = quote > end;
        this.#inString = quote >= end;
        at = Math.min(quote, end - 1);
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
    }
    this.#depth = depth;
    return at;
  }

  #spell(byte: number): void {
    if (this.#naming && this.#name.length <= LONGEST_ITEMS) this.#name.push(byte);
  }

  #quote(): void {
    if (this.#depth === 0 || (this.#inItems && this.#depth === 2)) refuse("an item is not an object");
    this.#inString = true;
    this.#naming = this.#depth === 1;
    this.#name = [];
  }

  /** If the value of `items` is a string, the next bracket belongs to another name. */
  #named(): void {
    this.#naming = false;
    this.#isItems = !this.#isItems && this.#name.length <= LONGEST_ITEMS && textOf(this.#name) === ITEMS;
  }

  /** @returns whether the items begin */
  #open(byte: number): boolean {
    if (this.#depth === 0 && (byte === OPEN_ARRAY || this.#ended)) refuse("not a list");
    const begins = this.#depth === 1 && this.#isItems && byte === OPEN_ARRAY;
    this.#depth += 1;
    if (!begins) return false;
    if (this.#found) refuse("items occurs twice");
    this.#found = true;
    this.#inItems = true;
    return true;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth < 0) refuse("not a list");
    if (this.#depth === 0) this.#ended = true;
    if (this.#depth === 1) this.#isItems = false;
  }

  #keep(bytes: Buffer): void {
    this.#begun.push(bytes);
    this.#length += bytes.length;
    if (this.#length > this.#limits.item) throw new RangeError(`an item is longer than ${this.#limits.item} bytes`);
  }

  #tellItem(rest: Buffer): void {
    this.#keep(rest);
    const [only] = this.#begun;
    const item = this.#begun.length === 1 && only !== undefined ? only : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#length = 0;
    this.#parts.item(item);
  }

  #tellOthers(piece: Buffer, from: number, to: number): void {
    if (!this.#inItems) this.#tellAround(piece, from, to);
    else if (from < to) this.#parts.between?.(piece.subarray(from, to));
  }

  #tellAround(piece: Buffer, from: number, to: number): void {
    if (from === to) return;
    this.#around += to - from;
    if (this.#around > this.#limits.around)
      throw new RangeError(`the bytes outside the items are longer than ${this.#limits.around} bytes`);
    this.#parts.around(piece.subarray(from, to));
  }
}

/** Length from which the end of a string is searched for by native code, which costs more for short strings. */
const NEAR = 48;

/**
 * Returns the position of the next quote that is not escaped. Without one it is the number of bytes, and one more if the last one
 * escapes the next.
 */
function closingQuote(bytes: Buffer, start: number): number {
  const end = bytes.length;
  let quote = 0;
  for (let at = start; ; ) {
    for (const near = Math.min(end, at + NEAR); at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
    if (at >= end) return at;
    if (quote < at) quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) quote = end;
    const escaped = bytes.subarray(at, quote).indexOf(BACKSLASH);
    if (escaped === -1) return quote;
    at += escaped;
  }
}

/** Returns the unescaped string. */
function textOf(spelt: readonly number[]): string {
  const text = Buffer.from(spelt).toString("utf8");
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return refuse("a name is not a valid string");
  }
}

function refuse(why: string): never {
  throw new SyntaxError(`the list cannot be read: ${why}`);
}
