import { ApiError } from "../meta/api-error.ts";
import { quote } from "../text/go-format.ts";

/** Field whose hash assigns an object to a shard. It never changes, so that no object changes its shard. */
export type ShardField = "object.metadata.uid" | "object.metadata.namespace";

/** Range of hashes: `0x` and 16 lower-case hexadecimal digits, or 2^64 as an end. */
export interface ShardRange {
  /** First hash of the range. */
  readonly start: string;
  /** First hash after the range. */
  readonly end: string;
}

/** Values of an object that may be hashed; a missing one counts as "". */
export interface Shardable {
  readonly uid?: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * Selects a share of all objects by the hash of a field (KEP-5866), so that several readers have disjoint shares. Immutable;
 * {@link parseShardSelector} creates one.
 */
export class ShardSelector {
  readonly field: ShardField;
  /** Ranges, of which one must contain the hash. In the order of the text. */
  readonly ranges: readonly ShardRange[];
  readonly #bounds: readonly Bounds[];
  readonly #text: string;

  /** Use {@link parseShardSelector}, which checks its input. */
  constructor(field: ShardField, ranges: readonly ShardRange[]) {
    this.field = field;
    this.ranges = ranges;
    this.#bounds = ranges.map(({ start, end }) => ({ start: hash64(start), end: hash64(end) }));
    this.#text = ranges.map(({ start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(" || ");
  }

  /** Whether the hash of an object is in one of the ranges. */
  matches({ uid = "", namespace = "" }: Shardable): boolean {
    const hash = fnv1a(this.field === "object.metadata.uid" ? uid : namespace);
    for (const { start, end } of this.#bounds) if (!less(hash, start) && less(hash, end)) return true;
    return false;
  }

  /** Formats the selector canonically, as in `metadata.shardInfo` of a list. The text parses to an equal selector. */
  toString(): string {
    return this.#text;
  }
}

/**
 * Parses a selector: `shardRange(<field>, '<start>', '<end>')`, several combined by `||`, all of the same field. The field is
 * `object.metadata.uid` or `object.metadata.namespace`. A range contains its start but not its end. Kubernetes parses CEL, of
 * which the whole form is accepted: white space, parentheses, double quotes.
 * @throws ApiError 400 that names the parameter `shardSelector` and the remedy.
 */
export function parseShardSelector(text: string): ShardSelector {
  if (text.trim() === "") throw invalid("it is empty: leave it out to get all objects");
  const tokens = new Tokens(text);
  const fields = new Set<ShardField>();
  const ranges: ShardRange[] = [];
  let depth = 0;
  do {
    while (tokens.takes("(")) depth++;
    const { field, ...range } = parseRange(tokens);
    ranges.push(range);
    fields.add(field);
    while (depth > 0 && tokens.takes(")")) depth--;
  } while (tokens.takes("||"));
  if (depth > 0 || tokens.token !== "") throw tokens.unexpected();
  const [field, other] = fields;
  if (other !== undefined)
    throw invalid(`its ranges have the fields ${field} and ${other}: use one field in all ranges`);
  return new ShardSelector(field as ShardField, ranges);
}

/** Everything but the white space between tokens. */
const TOKEN = /\|\||[(),.]|'[^'\\]*'|"[^"\\]*"|[A-Za-z_][A-Za-z0-9_]*|[^ \t\r\n\f]/gu;

class Tokens {
  readonly #tokens: readonly RegExpExecArray[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(TOKEN)];
  }

  /** The present token; "" at the end. */
  get token(): string {
    return this.#tokens[this.#position]?.[0] ?? "";
  }

  /** Returns the present token and goes on to the next one. */
  next(): string {
    const { token } = this;
    this.#position++;
    return token;
  }

  takes(token: string): boolean {
    if (this.token !== token) return false;
    this.#position++;
    return true;
  }

  expect(token: string): void {
    if (!this.takes(token)) throw this.unexpected();
  }

  unexpected(): ApiError {
    const found = this.#tokens[this.#position];
    const problem =
      found === undefined ? "it ends too early" : `unexpected ${quote(found[0])} at offset ${found.index}`;
    return invalid(`${problem}: use ${FORM}, several joined by ||`);
  }
}

const FORM = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const WORD = /^[A-Za-z_]/;

function parseRange(tokens: Tokens): ShardRange & { readonly field: ShardField } {
  tokens.expect("shardRange");
  tokens.expect("(");
  const field = parseField(tokens);
  tokens.expect(",");
  const start = parseBound(tokens);
  tokens.expect(",");
  const end = parseBound(tokens);
  tokens.expect(")");
  if (less(hash64(start), hash64(end))) return { field, start, end };
  throw invalid(`the start ${start} of a range is not below its end ${end}: make it lower`);
}

function parseField(tokens: Tokens): ShardField {
  const words: string[] = [];
  do {
    if (!WORD.test(tokens.token)) throw tokens.unexpected();
    words.push(tokens.next());
  } while (tokens.takes("."));
  const field = words.join(".");
  if (field === "object.metadata.uid" || field === "object.metadata.namespace") return field;
  throw invalid(`unsupported field ${quote(field)}: use object.metadata.uid or object.metadata.namespace`);
}

function parseBound(tokens: Tokens): string {
  if (tokens.token.length < 2 || !/^['"]/.test(tokens.token)) throw tokens.unexpected();
  const bound = tokens.next().slice(1, -1);
  if (/^0x[0-9a-f]{16}$/.test(bound) || bound === LIMIT) return bound;
  const example = /^0x[0-9a-f]{1,15}$/.test(bound) ? `, such as 0x${bound.slice(2).padStart(16, "0")}` : "";
  throw invalid(`bound ${quote(bound)}: use 0x and 16 lower-case hexadecimal digits${example}, or ${LIMIT} as an end`);
}

/** 2^64, the end of the last range. */
const LIMIT = "0x10000000000000000";

function invalid(problem: string): ApiError {
  return ApiError.badRequest(`invalid shardSelector: ${problem}`);
}

/** Number of 64 bits, or 2^64, in two parts that numbers can hold. */
interface Hash64 {
  readonly high: number;
  /** The lower 32 bits. */
  readonly low: number;
}

interface Bounds {
  readonly start: Hash64;
  readonly end: Hash64;
}

function hash64(hex: string): Hash64 {
  return { high: Number.parseInt(hex.slice(2, -8), 16), low: Number.parseInt(hex.slice(-8), 16) };
}

function less(a: Hash64, b: Hash64): boolean {
  return a.high === b.high ? a.low < b.low : a.high < b.high;
}

const UTF8 = new TextEncoder();

/** Hashes a text by FNV-1a with 64 bits. A BigInt would take fifty times as long. */
function fnv1a(text: string): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of UTF8.encode(text)) {
    low = (low ^ byte) >>> 0;
    // Times 2^40 + 0x1b3, modulo 2^64.
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return { high, low };
}
