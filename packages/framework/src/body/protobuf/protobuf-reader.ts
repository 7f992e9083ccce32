import { isUtf8 } from "node:buffer";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { BODY_LIMITS } from "../../util/limits.ts";
import { ProtobufFault, type ProtobufField, type ProtobufMessage, type ProtobufScalar } from "./message.ts";

const MAGIC = Buffer.from("k8s\0");
const TYPE: ProtobufMessage = { 1: { name: "apiVersion" }, 2: { name: "kind" } };
/** `runtime.Unknown`: the type, the message, and how it is packed, which nobody does. */
const ENVELOPE = { type: 1, raw: 2, contentEncoding: 3 } as const;
/** How deep messages may stand within each other: a schema that needs more is none. */
const MAX_DEPTH = 500;

/**
 * The object in a body as Kubernetes' clients send it: four bytes, and an envelope that says its type. It is bounded as JSON
 * is: by what it may hold besides its size.
 *
 * @throws ProtobufFault on what is none, RangeError on what holds too much
 */
export function readProtobuf(body: Buffer, message: ProtobufMessage): Record<string, unknown> {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ProtobufFault("it does not begin as Kubernetes' protobuf does");
  const reader = new Reader();
  let type: Record<string, unknown> = {};
  let raw: Buffer = Buffer.alloc(0);
  for (const { field, type: wire, bytes } of fieldsOf(body.subarray(MAGIC.length))) {
    if (wire !== WIRE.bytes) continue;
    if (field === ENVELOPE.type) type = reader.message(bytes, TYPE);
    if (field === ENVELOPE.raw) raw = bytes;
    if (field === ENVELOPE.contentEncoding && bytes.length > 0) throw new ProtobufFault("its content is encoded");
  }
  return { ...type, ...reader.message(raw, message) };
}

type Read = Record<string, unknown>;

/** Reads one body, and counts what it has made. */
class Reader {
  #containers = 0;
  #names = 0;
  #depth = 0;

  message(bytes: Buffer, message: ProtobufMessage): Read {
    this.#contains(1);
    if (++this.#depth > MAX_DEPTH)
      throw new ProtobufFault(`messages stand within each other more than ${MAX_DEPTH} deep`);
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

  /** An entry of a map is a message: the key and the value, either of which is left out when it is empty. */
  #entry(map: Read, known: ProtobufField, { type, bytes }: WireField): void {
    if (type !== WIRE.bytes) throw new ProtobufFault(`${known.name} is of another type`);
    if (++this.#names > NAMES) throw new RangeError(`more than ${NAMES} entries of maps`);
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
    if (field.type !== WIRE.bytes) throw new ProtobufFault(`${name} is of another type`);
    const read = this.message(field.bytes, typeof of === "function" ? of() : of);
    return to === undefined ? read : to(read);
  }

  /** The list or map of that name, made when first needed. */
  #made<Container extends object = Read>(object: Read, name: string, empty: Container): Container {
    const there = object[name] as Container | undefined;
    if (there !== undefined) return there;
    this.#contains(1);
    object[name] = empty;
    return empty;
  }

  /** JSON within a message counts as if it stood alone. */
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

// Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding): tags, and values by wire type.

/** How a value is written: a number of variable length, 8 bytes, bytes with their length, 4 bytes. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A field as it stands there. */
export interface WireField {
  readonly field: number;
  readonly type: number;
  /** Its value: what the length counts, or the number's own bytes. */
  readonly bytes: Buffer;
}

/** The fields of a message in their order; a view of its bytes each. @throws ProtobufFault */
function* fieldsOf(bytes: Buffer): Iterable<WireField> {
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = varint(bytes, at);
    const field = Math.floor(tag / 8);
    const type = tag % 8;
    const [length, start] = extent(bytes, type, afterTag);
    if (field === 0 || start + length > bytes.length) throw new ProtobufFault("a field ends behind its message");
    at = start + length;
    yield { field, type, bytes: bytes.subarray(start, at) };
  }
}

/** How long a field's value is, and where it begins. Groups, which nobody sends any more, are refused. */
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
      throw new ProtobufFault("a field has a type that there is not");
  }
}

/** A number of up to ten bytes; of those that no length or tag could be only the order of magnitude matters. */
function varint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from; at < from + 10; at++) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * (at - from));
    if (byte < 0x80) return [value, at + 1];
  }
  throw new ProtobufFault("a number does not end");
}

/** A number of 64 bits with its sign; a `bigint` where no `number` is exact. */
function signed64(varint: Buffer): number | bigint {
  let value = 0n;
  for (const [at, byte] of varint.entries()) value |= BigInt(byte & 0x7f) << BigInt(7 * at);
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

/** Where a value stands. */
interface Place {
  /** Its name, for faults. */
  readonly name: string;
  /** Told of JSON that stands within a message. @throws RangeError when there is too much of it */
  readonly count: (json: Buffer) => void;
}

/** One value in its JSON form. @throws ProtobufFault */
function scalarOf(kind: ProtobufScalar, { type, bytes }: WireField, { name, count }: Place): unknown {
  if (type !== (WIRES[kind] ?? WIRE.bytes)) throw new ProtobufFault(`${name} is of another type`);
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

/** What stands for a value that a map's entry leaves out. */
function emptyOf(kind: ProtobufScalar): WireField {
  const type = WIRES[kind] ?? WIRE.bytes;
  return { field: 0, type, bytes: type === WIRE.varint ? ZERO : type === WIRE.fixed64 ? EIGHT : EMPTY };
}

/** Whether JSON has no member for it. */
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
  if (!Number.isFinite(value)) throw new ProtobufFault(`${name} is no number that JSON has`);
  return value;
}

/** The last of a message's fields of that number. */
function memberOf(bytes: Buffer, field: number, type: number): WireField | undefined {
  let found: WireField | undefined;
  for (const one of fieldsOf(bytes)) if (one.field === field && one.type === type) found = one;
  return found;
}

function integerIn(bytes: Buffer, field: number): number | bigint {
  const found = memberOf(bytes, field, WIRE.varint);
  return found === undefined ? 0 : signed64(found.bytes);
}

/** Seconds of the years 0 to 9999, which is what RFC 3339 can say. */
const FIRST = Date.UTC(2000, 0, 1) / 1000 - 730_485 * 86_400;
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/** Kubernetes' Time and MicroTime: seconds since 1970 and nanoseconds; both 0 is none, as in Go's clients. */
function timeOf(bytes: Buffer, kind: "time" | "microTime", name: string): string | null {
  const [seconds, nanos] = [Number(integerIn(bytes, 1)), Number(integerIn(bytes, 2))];
  if (seconds === 0 && nanos === 0) return null;
  if (seconds < FIRST || seconds > LAST || nanos < 0 || nanos > 999_999_999)
    throw new ProtobufFault(`${name} is no time between the years 0 and 9999`);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (kind === "time") return `${whole}Z`;
  return `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z`;
}

/** Its field 1 says which of the two it is. */
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
    if (error instanceof SyntaxError) throw new ProtobufFault(`${name} is no JSON: ${error.message}`);
    throw error;
  }
}
