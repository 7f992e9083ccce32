import { setMember } from "./value.ts";

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * Parses a JSON text and keeps 64-bit integers exact, as `JSON.parse` cannot; its reviver would take twenty times as long.
 * The parser is recursive: the caller must bound the nesting.
 *
 * @throws SyntaxError in Go's words, as Kubernetes answers, with line and column
 */
export function readExact(text: string): unknown {
  return new ExactReader(text, true).whole();
}

/** Throws the error of a text that is not JSON. @throws SyntaxError as {@link readExact} does */
export function rejectJson(text: string): never {
  new ExactReader(text, false).whole();
  throw new SyntaxError("invalid JSON");
}

/** Longest string, with its quotes, that V8 copies when it is sliced off another. */
const COPIED = 14;

class ExactReader {
  readonly #text: string;
  /** Whether objects and arrays are filled. */
  readonly #keep: boolean;
  #at = 0;

  constructor(text: string, keep: boolean) {
    this.#text = text;
    this.#keep = keep;
  }

  whole(): unknown {
    this.#skipSpace();
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
    return value;
  }

  #value(): unknown {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#literal("true", true);
      case "f":
        return this.#literal("false", false);
      case "n":
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #object(): unknown {
    const object = {};
    if (this.#opens("}")) return object;
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') this.#fail("looking for beginning of object key string");
      const name = this.#string();
      this.#skipSpace();
      if (this.#text[this.#at] !== ":") this.#fail("after object key");
      this.#at += 1;
      this.#skipSpace();
      const value = this.#value();
      if (this.#keep) setMember(object, name, value);
    } while (this.#goesOn("}", "after object key:value pair"));
    return object;
  }

  #array(): unknown {
    const array: unknown[] = [];
    if (this.#opens("]")) return array;
    do {
      this.#skipSpace();
      const value = this.#value();
      if (this.#keep) array.push(value);
    } while (this.#goesOn("]", "after array element"));
    return array;
  }

  /** Enters an object or array. @returns whether it is empty; the reader has then left it */
  #opens(closing: string): boolean {
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] !== closing) return false;
    this.#at += 1;
    return true;
  }

  #goesOn(closing: string, context: string): boolean {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character !== "," && character !== closing) this.#fail(context);
    this.#at += 1;
    return character === ",";
  }

  #string(): string {
    const from = this.#at;
    let escaped = false;
    for (this.#at += 1; ; this.#at += 1) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === 0x22) break;
      if (unit === 0x5c) {
        escaped = true;
        this.#escape();
      } else if (!(unit >= 0x20)) this.#fail("in string literal");
    }
    this.#at += 1;
    // A longer slice is not a copy: it would keep the whole text in memory.
    if (!escaped && this.#at - from <= COPIED) return this.#text.slice(from + 1, this.#at - 1);
    return JSON.parse(this.#text.slice(from, this.#at)) as string;
  }

  /** Moves to the last character of an escape. */
  #escape(): void {
    this.#at += 1;
    const code = this.#text[this.#at] ?? "";
    if (code === "" || !'"\\/bfnrtu'.includes(code)) this.#fail("in string escape code");
    if (code !== "u") return;
    for (let digit = 0; digit < 4; digit++) {
      this.#at += 1;
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? "")) this.#fail("in \\u hexadecimal character escape");
    }
  }

  #literal<T>(name: string, value: T): T {
    for (const [at, expected] of [...name].entries()) {
      if (this.#text[this.#at] !== expected) {
        this.#fail(`in literal ${name} (expecting '${name[at]}')`);
      }
      this.#at += 1;
    }
    return value;
  }

  #number(): number | bigint {
    const from = this.#at;
    const negative = this.#text[from] === "-";
    if (negative) this.#at += 1;
    else if (!this.#digit()) this.#fail("looking for beginning of value");
    if (this.#text[this.#at] === "0") this.#at += 1;
    else this.#digits("in numeric literal");
    const integer = this.#at;
    if (this.#text[this.#at] === ".") {
      this.#at += 1;
      this.#digits("after decimal point in numeric literal");
    }
    if (this.#text[this.#at] === "e" || this.#text[this.#at] === "E") {
      this.#at += 1;
      if (this.#text[this.#at] === "+" || this.#text[this.#at] === "-") this.#at += 1;
      this.#digits("in exponent of numeric literal");
    }
    return exactly(this.#text.slice(from, this.#at), integer === this.#at);
  }

  #digits(context: string): void {
    if (!this.#digit()) this.#fail(context);
    while (this.#digit()) this.#at += 1;
  }

  #digit(): boolean {
    const unit = this.#text.charCodeAt(this.#at);
    return unit >= 0x30 && unit <= 0x39;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(context: string): never {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) throw new SyntaxError("unexpected end of JSON input");
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const place = `at line ${line} column ${this.#at - before.lastIndexOf("\n")}`;
    throw new SyntaxError(`invalid character ${quoteCharacter(String.fromCodePoint(point))} ${context} ${place}`);
  }
}

function exactly(source: string, integer: boolean): number | bigint {
  const value = Number(source);
  if (Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value))
    throw new SyntaxError(`json: cannot unmarshal number ${source.slice(0, 40)} into Go value of type float64`);
  // 64-bit integers have no more digits; parsing a longer one would take long.
  if (!integer || source.length > 20) return value;
  const exact = BigInt(source);
  return exact >= MIN_INT64 && exact <= MAX_INT64 ? exact : value;
}

/** Quotes a character as Go does: `'a'`, `'\''`, `'"'`, `'\n'`. */
function quoteCharacter(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
}
