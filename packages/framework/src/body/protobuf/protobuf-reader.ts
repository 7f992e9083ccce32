import { isUtf8 } from "node:buffer";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { BODY_LIMITS } from "../../util/limits.ts";
import { ProtobufFault, type ProtobufField, type ProtobufMessage, type ProtobufScalar } from "./message.ts";

const MAGIC = Buffer.from("k8s\0");
const TYPE: ProtobufMessage = { 1: { name: "apiVersion" }, 2: { name: "kind" } };
/** `runtime.Unknown`: type, message and content encoding, which no client uses. */
const ENVELOPE = { type: 1, raw: 2, contentEncoding: 3 } as const;
/** Limit of nested messages; no schema needs more. */
const MAX_DEPTH = 500;

/**
 * Decodes the object in a Kubernetes protobuf body: four magic bytes and an envelope with the type. Its content is limited
 * like JSON's, besides the size of the body.
 *
 * @throws ProtobufFault on an invalid body, RangeError on one with too much content
 */
export function readProtobuf(body: Buffer, message: ProtobufMessage): Record<string, unknown> {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ProtobufFault("magic bytes of Kubernetes' protobuf are missing");
  const reader = new Reader();
  let type: Record<string, unknown> = {};
  let raw: Buffer = Buffer.alloc(0);
  for (const { field, type: wire, bytes } of fieldsOf(body.subarray(MAGIC.length))) {
    if (wire !== WIRE.bytes) continue;
    if (field === ENVELOPE.type) type = reader.message(bytes, TYPE);
    if (field === ENVELOPE.raw) raw = bytes;
    if (field === ENVELOPE.contentEncoding && bytes.length > 0)
      throw new ProtobufFault("contentEncoding is not supported");
  }
  return { ...type, ...reader.message(raw, message) };
}

type Read = Record<string, unknown>;

/** Decodes one body and counts the values. */
class Reader {
  #containers = 0;
  #names = 0;
  #depth = 0;

  message(bytes: Buffer, message: ProtobufMessage): Read {
    this.#contains(1);
    if (++this.#depth > MAX_DEPTH) throw new ProtobufFault(`messages are nested deeper than ${MAX_DEPTH} levels`);
    const object: Read = {};
    for (const field of fieldsOf(bytes)) {
      const known = message[field.field];
      if (known !== undefined) this.#add(object, known, field);
    }
    this.#depth -= 1;
    return object;
  }

  #add(object: Read, known: ProtobufField, field: WireField): void {
    const { name, form, empty } = known;
    if (form === "map") {
      this.#entry(this.#made(object, name, Object.create(null)), known, field);
      return;
    }
    const value = this.#value(known, field);
    if (form === "list") this.#made<unknown[]>(object, name, []).push(value);
    else if (empty === "kept" || !isEmptyScalar(value)) object[name] = value;
    else delete object[name];
  }

  /** A map entry is a message of key and value; either is omitted when empty. */
  #entry(map: Read, known: ProtobufField, { type, bytes }: WireField): void {
    if (type !== WIRE.bytes) throw new ProtobufFault(`${known.name} has the wrong wire type`);
    if (++this.#names > NAMES) throw new RangeError(`more than ${NAMES} map entries`);
    let key = "";
    let found: WireField | undefined;
    for (const field of fieldsOf(bytes)) {
      if (field.field === 1) key = scalarOf("text", field, { name: known.name, count: this.#count }) as string;
      if (field.field === 2) found = field;
    }
    const { of = "text" } = known;
    map[key] = this.#value(known, found ?? emptyOf(typeof of === "string" ? of : "text"));
  }

  #value({ name, of = "text", to }: ProtobufField, field: WireField): unknown {
    if (typeof of === "string") return scalarOf(of, field, { name, count: this.#count });
    if (field.type !== WIRE.bytes) throw new ProtobufFault(`${name} has the wrong wire type`);
    const read = this.message(field.bytes, typeof of === "function" ? of() : of);
    return to === undefined ? read : to(read);
  }

  /** Returns the list or map with that name, created on first use. */
  #made<Container extends object = Read>(object: Read, name: string, empty: Container): Container {
    const there = object[name] as Container | undefined;
    if (there !== undefined) return there;
    this.#contains(1);
    object[name] = empty;
    return empty;
  }

  /** Embedded JSON has the same limits as a JSON body. */
  readonly #count = (json: Buffer): void => {
    let brackets = 0;
    for (const byte of json) if (byte === 0x7b || byte === 0x5b) brackets += 1;
    this.#contains(brackets);
  };

  #contains(more: number): void {
    this.#containers += more;
    if (this.#containers > CONTAINERS) throw new RangeError(`more than ${CONTAINERS} objects and arrays`);
  }
}

const { names: NAMES = Number.POSITIVE_INFINITY, containers: CONTAINERS = Number.POSITIVE_INFINITY } = BODY_LIMITS;

// Wire types of Protocol Buffers (https://protobuf.dev/programming-guides/encoding).

/** Encodings of a value: a varint, 8 bytes, length-delimited bytes, 4 bytes. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Field in wire format. */
export interface WireField {
  readonly field: number;
  readonly type: number;
  /** Value: the delimited bytes, or those of the number. */
  readonly bytes: Buffer;
}

/** Yields the fields of a message in order, each with a view of its bytes. @throws ProtobufFault */
function* fieldsOf(bytes: Buffer): Iterable<WireField> {
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = varint(bytes, at);
    const field = Math.floor(tag / 8);
    const type = tag % 8;
    const [length, start] = extent(bytes, type, afterTag);
    if (field === 0 || start + length > bytes.length) throw new ProtobufFault("a field extends beyond its message");
    at = start + length;
    yield { field, type, bytes: bytes.subarray(start, at) };
  }
}

/** Returns the length of a field's value and where it begins. Groups, which are obsolete, are rejected. */
function extent(bytes: Buffer, wireType: number, at: number): [length: number, start: number] {
  switch (wireType) {
    case WIRE.varint:
      return [varint(bytes, at)[1] - at, at];
    case WIRE.fixed64:
      return [8, at];
    case WIRE.bytes:
      return varint(bytes, at);
    case WIRE.fixed32:
      return [4, at];
    default:
      throw new ProtobufFault("a field has an unknown wire type");
  }
}

/** Decodes a varint of up to ten bytes. Values too large for a length or tag need not be exact. */
function varint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from; at < from + 10; at++) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * (at - from));
    if (byte < 0x80) return [value, at + 1];
  }
  throw new ProtobufFault("a varint does not end");
}

/** Decodes a signed 64-bit number; a `bigint` where a `number` is not exact. */
function signed64(varint: Buffer): number | bigint {
  let value = 0n;
  for (const [at, byte] of varint.entries()) value |= BigInt(byte & 0x7f) << BigInt(7 * at);
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

/** Context of a value. */
interface Place {
  /** Name of the field, for errors. */
  readonly name: string;
  /** Counts the content of embedded JSON. @throws RangeError when it is too much */
  readonly count: (json: Buffer) => void;
}

/** Converts one value to its JSON form. @throws ProtobufFault */
function scalarOf(kind: ProtobufScalar, { type, bytes }: WireField, { name, count }: Place): unknown {
  if (type !== (WIRES[kind] ?? WIRE.bytes)) throw new ProtobufFault(`${name} has the wrong wire type`);
  switch (kind) {
    case "text":
      return textOf(bytes, name);
    case "bytes":
      return bytes.toString("base64");
    case "integer":
      return signed64(bytes);
    case "boolean":
      return bytes.some((byte) => (byte & 0x7f) !== 0);
    case "double":
      return doubleOf(bytes, name);
    case "time":
    case "microTime":
      return timeOf(bytes, kind, name);
    case "quantity":
      return textOf(memberOf(bytes, 1, WIRE.bytes)?.bytes ?? EMPTY, name) || "0";
    case "intOrString":
      return intOrString(bytes, name);
    case "json":
      return jsonOf(bytes, { name, count });
  }
}

/** Returns the value that an entry of a map omits. */
function emptyOf(kind: ProtobufScalar): WireField {
  const type = WIRES[kind] ?? WIRE.bytes;
  return { field: 0, type, bytes: type === WIRE.varint ? ZERO : type === WIRE.fixed64 ? EIGHT : EMPTY };
}

/** Returns whether JSON omits the value. */
function isEmptyScalar(value: unknown): boolean {
  return value === "" || value === 0 || value === false || value === null;
}

const WIRES: { readonly [kind in ProtobufScalar]?: number } = {
  integer: WIRE.varint,
  boolean: WIRE.varint,
  double: WIRE.fixed64,
};
const EMPTY = Buffer.alloc(0);
const ZERO = Buffer.alloc(1);
const EIGHT = Buffer.alloc(8);

function textOf(bytes: Buffer, name: string): string {
  if (!isUtf8(bytes)) throw new ProtobufFault(`${name} is not UTF-8`);
  return bytes.toString("utf8");
}

function doubleOf(bytes: Buffer, name: string): number {
  const value = bytes.readDoubleLE();
  if (!Number.isFinite(value)) throw new ProtobufFault(`${name} is not a finite number`);
  return value;
}

/** Returns the last field of a message with that number. */
function memberOf(bytes: Buffer, field: number, type: number): WireField | undefined {
  let found: WireField | undefined;
  for (const one of fieldsOf(bytes)) if (one.field === field && one.type === type) found = one;
  return found;
}

function integerIn(bytes: Buffer, field: number): number | bigint {
  const found = memberOf(bytes, field, WIRE.varint);
  return found === undefined ? 0 : signed64(found.bytes);
}

/** Range of seconds of the years 0 to 9999, which RFC 3339 can express. */
const FIRST = Date.UTC(2000, 0, 1) / 1000 - 730_485 * 86_400;
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/** Converts Kubernetes' Time and MicroTime: seconds since 1970 and nanoseconds. Both 0 means no time, as in Go's clients. */
function timeOf(bytes: Buffer, kind: "time" | "microTime", name: string): string | null {
  const [seconds, nanos] = [Number(integerIn(bytes, 1)), Number(integerIn(bytes, 2))];
  if (seconds === 0 && nanos === 0) return null;
  if (seconds < FIRST || seconds > LAST || nanos < 0 || nanos > 999_999_999)
    throw new ProtobufFault(`${name} is outside the years 0 to 9999`);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (kind === "time") return `${whole}Z`;
  return `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z`;
}

/** Field 1 selects the type. */
function intOrString(bytes: Buffer, name: string): unknown {
  if (integerIn(bytes, 1) === 0) return integerIn(bytes, 2);
  return textOf(memberOf(bytes, 3, WIRE.bytes)?.bytes ?? EMPTY, name);
}

function jsonOf(bytes: Buffer, { name, count }: Place): unknown {
  const raw = memberOf(bytes, 1, WIRE.bytes)?.bytes ?? EMPTY;
  if (raw.length === 0) return null;
  count(raw);
  try {
    return parseJson(textOf(raw, name)).value;
  } catch (error) {
    if (error instanceof SyntaxError) throw new ProtobufFault(`${name} is not valid JSON: ${error.message}`);
    throw error;
  }
}
