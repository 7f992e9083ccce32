import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { MAX_JSON_DEPTH } from "@virtual-workspaces/apimachinery/json";
import type { Token, Tokenizer } from "cborg";
import { BODY_LIMITS } from "../../util/limits.ts";

/** Media type of CBOR documents (RFC 8949). */
export const CBOR = "application/cbor";

/** CBOR that is malformed, or that JSON cannot express. */
export class CborFault extends Error {}

/**
 * Reads a CBOR document as Kubernetes does: byte strings are strings, in the encoding that an enclosing tag expects (22:
 * base64), other tags are ignored, and integers beyond 2^53 are `bigint`. Security: the input is untrusted; nesting, objects
 * and names are limited as in JSON.
 *
 * @throws CborFault for malformed CBOR, duplicate keys, text that is not UTF-8, NaN, and other values that JSON lacks;
 * RangeError beyond the limits
 */
export function readCbor(body: Buffer): unknown {
  // Loaded on first use: most servers never need it. It exports nothing to a `require` by name.
  const path = fileURLToPath(import.meta.resolve("cborg"));
  const library = createRequire(import.meta.url)(path) as typeof import("cborg");
  try {
    return library.decode(body, { ...STRICT, tokenizer: new JsonTokenizer(body, library) });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith(PREFIX)) throw error;
    throw new CborFault(error.message.slice(PREFIX.length));
  }
}

const PREFIX = "CBOR decode error: ";

const STRICT = {
  allowIndefinite: true,
  allowBigInt: true,
  allowUndefined: false,
  allowInfinity: false,
  allowNaN: false,
  rejectDuplicateMapKeys: true,
} as const;

/** Encodings of byte strings by the tag around them (RFC 8949, 3.4.5.2). */
const LATER_ENCODINGS: ReadonlyMap<number, BufferEncoding> = new Map([
  [21, "base64url"],
  [22, "base64"],
  [23, "hex"],
]);
/** Tags whose content cannot be read as if it had none: times as numbers, and integers of any length. */
const REJECTED_TAGS: readonly number[] = [1, 2, 3];

/** Maximum number of values, keys and tags: more than JSON of the same objects can have. Each takes half a microsecond. */
const MOST_ITEMS = 2 ** 20;

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Array or map that is being read. */
interface Open {
  readonly isMap: boolean;
  /** Number of items that it has: in a map keys and values, infinite until a break ends it. */
  readonly length: number;
  /** Number of items that have begun. */
  begun: number;
}

/** Reduces tokens to those of JSON values. */
class JsonTokenizer {
  readonly #body: Buffer;
  readonly #library: typeof import("cborg");
  readonly #tokens: Tokenizer;
  readonly #open: Open[] = [];
  readonly #names = new Set<string>();
  #containers = 0;
  #items = 0;

  constructor(body: Buffer, library: typeof import("cborg")) {
    this.#body = body;
    this.#library = library;
    this.#tokens = new library.Tokenizer(body, STRICT);
  }

  done(): boolean {
    return this.#tokens.done();
  }

  pos(): number {
    return this.#tokens.pos();
  }

  next(): Token {
    const around = this.#open.at(-1);
    const isKey = around?.isMap === true && around.begun % 2 === 0;
    let encoding: BufferEncoding = "utf8";
    for (let isTagged = false; ; isTagged = true) {
      if (this.done()) throw new CborFault("unexpected end of the document");
      const start = this.pos();
      const token = this.#tokens.next();
      this.#items += 1;
      if (this.#items > MOST_ITEMS) throw new RangeError(`more than ${MOST_ITEMS} values`);
      switch (token.type.name) {
        case "tag":
          if (REJECTED_TAGS.includes(token.value)) throw new CborFault(`tag ${token.value} is not supported`);
          encoding = LATER_ENCODINGS.get(token.value) ?? "utf8";
          continue;
        case "break":
          if (isTagged || around === undefined || around.length !== Number.POSITIVE_INFINITY || !isEven(around))
            throw new CborFault("unexpected break");
          this.#open.pop();
          this.#settle();
          return token;
      }
      if (around !== undefined) around.begun += 1;
      return this.#reduced(token, { start, encoding, isKey });
    }
  }

  #reduced(
    token: Token,
    { start, encoding, isKey }: { readonly start: number; readonly encoding: BufferEncoding; readonly isKey: boolean },
  ): Token {
    switch (token.type.name) {
      case "array":
      case "map":
        this.#enter(token);
        return token;
      case "bytes":
        return this.#string((token.value as Buffer).toString(encoding), isKey);
      case "string":
        return this.#string(this.#text(start), isKey);
      case "uint":
      case "negint":
        if (typeof token.value === "bigint" && (token.value > MAX_INT64 || token.value < MIN_INT64))
          throw new CborFault(`integer ${token.value} does not fit in 64 bits`);
        break;
    }
    this.#settle();
    return token;
  }

  #enter({ type, value }: Token): void {
    this.#containers += 1;
    if (this.#containers > BODY_LIMITS.containers)
      throw new RangeError(`more than ${BODY_LIMITS.containers} objects and arrays`);
    if (this.#open.length >= MAX_JSON_DEPTH) throw new CborFault(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    const isMap = type.name === "map";
    this.#open.push({ isMap, length: isMap ? 2 * value : value, begun: 0 });
    this.#settle();
  }

  /** Leaves the arrays and maps whose last item has ended. */
  #settle(): void {
    for (let last = this.#open.at(-1); last !== undefined && last.begun === last.length; last = this.#open.at(-1))
      this.#open.pop();
  }

  #string(text: string, isKey: boolean): Token {
    if (isKey) {
      this.#names.add(text);
      if (this.#names.size > BODY_LIMITS.names)
        throw new RangeError(`members of more than ${BODY_LIMITS.names} different names`);
    }
    this.#settle();
    const { Token, Type } = this.#library;
    return new Token(Type.string, text);
  }

  /** Returns the text that begins at a position and ends here. The library would replace what is not UTF-8. */
  #text(start: number): string {
    const minor = (this.#body[start] as number) & 31;
    const head = minor < 24 ? 1 : 1 + 2 ** (minor - 24);
    const bytes = this.#body.subarray(start + head, this.pos());
    if (!isUtf8(bytes)) throw new CborFault("text is not UTF-8");
    return bytes.toString("utf8");
  }
}

const isEven = ({ isMap, begun }: Open): boolean => !isMap || begun % 2 === 0;
