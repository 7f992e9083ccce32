/** Positions in the bytes of an object that is not parsed otherwise. */
export interface MetadataPositions {
  /** Values of `kind` and `apiVersion`; "" if missing. */
  readonly kind: string;
  readonly apiVersion: string;
  /** Start and end of the value of `metadata`, including its braces; both 0 if missing. */
  readonly from: number;
  readonly to: number;
}

/** Limit of nested objects and arrays. */
const DEEPEST = 1_000;

/**
 * Scans the JSON of one object without creating values, and records the position of its metadata. Of duplicate members the
 * last counts, as everywhere.
 *
 * @throws SyntaxError when the bytes are not exactly one JSON object
 */
export function scanMetadata(bytes: Uint8Array): MetadataPositions {
  return new Skimmer(bytes).object();
}

/**
 * Cuts `metadata.managedFields` out of the bytes of objects. Positions are found once for each object, and kept as long as its
 * bytes; no second copy of an object is kept.
 */
export class ManagedFieldsCuts {
  readonly #found = new WeakMap<Buffer, readonly number[]>();

  /** Returns the JSON of an object without `metadata.managedFields`: the same bytes if it has none. */
  without(bytes: Buffer): Buffer {
    let cuts = this.#found.get(bytes);
    if (cuts === undefined) {
      cuts = new Skimmer(bytes).managedFields();
      this.#found.set(bytes, cuts);
    }
    if (cuts.length === 0) return bytes;
    const kept: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < cuts.length; at += 2) {
      kept.push(bytes.subarray(from, cuts[at]));
      from = cuts[at + 1] as number;
    }
    kept.push(bytes.subarray(from));
    return Buffer.concat(kept);
  }
}

class Skimmer {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  object(): MetadataPositions {
    let kind = "";
    let apiVersion = "";
    let from = 0;
    let to = 0;
    this.#space();
    this.#take(OPEN_OBJECT);
    this.#space();
    for (let more = this.#bytes[this.#at] !== CLOSE_OBJECT; more; more = this.#another()) {
      const name = this.#name();
      if (name === "metadata" && this.#bytes[this.#at] === OPEN_OBJECT) from = this.#at;
      if (name === "kind") kind = this.#textOr();
      else if (name === "apiVersion") apiVersion = this.#textOr();
      else this.#value(1);
      if (name === "metadata") to = this.#at;
      this.#space();
    }
    this.#take(CLOSE_OBJECT);
    this.#space();
    if (this.#at !== this.#bytes.length) this.#refuse();
    return { kind, apiVersion, from, to };
  }

  /** Returns what to cut out so that valid JSON without `metadata.managedFields` remains: starts and ends, in turns. */
  managedFields(): readonly number[] {
    const cuts: number[] = [];
    this.#space();
    this.#take(OPEN_OBJECT);
    this.#space();
    for (let more = this.#bytes[this.#at] !== CLOSE_OBJECT; more; more = this.#another()) {
      const isMetadata = this.#name() === "metadata" && this.#bytes[this.#at] === OPEN_OBJECT;
      if (isMetadata) this.#cutMembers("managedFields", cuts);
      else this.#value(1);
      this.#space();
    }
    this.#take(CLOSE_OBJECT);
    return cuts;
  }

  /** Consumes an object, and notes its members of a name, each with one comma. */
  #cutMembers(name: string, cuts: number[]): void {
    this.#at += 1;
    this.#space();
    let kept = false;
    let end = this.#at;
    for (let more = this.#bytes[this.#at] !== CLOSE_OBJECT; more; ) {
      const start = this.#at;
      const isCut = this.#name() === name;
      this.#value(2);
      const own = this.#at;
      this.#space();
      more = this.#another();
      if (isCut && kept) cuts.push(end, own);
      else if (isCut) cuts.push(start, more ? this.#at : own);
      kept ||= !isCut;
      end = own;
    }
    this.#take(CLOSE_OBJECT);
  }

  /** Consumes the name of a member and its colon. */
  #name(): string {
    const name = this.#text();
    this.#space();
    this.#take(COLON);
    this.#space();
    return name;
  }

  /** Consumes a comma, if there is one. */
  #another(): boolean {
    if (this.#bytes[this.#at] !== COMMA) return false;
    this.#at += 1;
    this.#space();
    return true;
  }

  #value(depth: number): void {
    const first = this.#bytes[this.#at];
    if (first === QUOTE) this.#string();
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) this.#nested(first, depth);
    else this.#scalar();
  }

  #nested(open: number, depth: number): void {
    if (depth > DEEPEST) throw new SyntaxError(`nested deeper than ${DEEPEST} levels`);
    const close = open === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    this.#at += 1;
    this.#space();
    for (let more = this.#bytes[this.#at] !== close; more; more = this.#another()) {
      if (open === OPEN_OBJECT) {
        this.#string();
        this.#space();
        this.#take(COLON);
        this.#space();
      }
      this.#value(depth + 1);
      this.#space();
    }
    this.#take(close);
  }

  #string(): void {
    const bytes = this.#bytes;
    const end = bytes.length;
    if (bytes[this.#at] !== QUOTE) this.#refuse();
    let at = this.#at + 1;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return;
      }
      if (byte < 0x20) break;
      at += byte === BACKSLASH ? 2 : 1;
    }
    this.#at = Math.min(at, end);
    this.#refuse();
  }

  #text(): string {
    const from = this.#at;
    this.#string();
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, this.#at - from).toString("utf8");
    return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  #textOr(): string {
    if (this.#bytes[this.#at] === QUOTE) return this.#text();
    this.#value(1);
    return "";
  }

  /** Consumes a number or one of the three literals. */
  #scalar(): void {
    const from = this.#at;
    for (let at = from; ; at++) {
      const byte = this.#bytes[at] ?? COMMA;
      const part = (byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 122) || byte === 43 || byte === 45;
      if (part || byte === 46 || byte === 69) continue;
      this.#at = at;
      break;
    }
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, this.#at - from).toString("latin1");
    if (!SCALAR.test(text)) this.#refuse();
  }

  #space(): void {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#at];
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return;
      this.#at += 1;
    }
  }

  #take(byte: number): void {
    if (this.#bytes[this.#at] !== byte) this.#refuse();
    this.#at += 1;
  }

  #refuse(): never {
    throw new SyntaxError(`not a JSON object: unexpected byte at ${this.#at} of ${this.#bytes.length}`);
  }
}

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

// Bytes of JSON's structural characters.

export const QUOTE = 34;
export const BACKSLASH = 92;
export const OPEN_OBJECT = 123;
export const CLOSE_OBJECT = 125;
export const OPEN_ARRAY = 91;
export const CLOSE_ARRAY = 93;
const COLON = 58;
export const COMMA = 44;
