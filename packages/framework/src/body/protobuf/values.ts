import { isUtf8 } from "node:buffer";
import { parseJson } from "@virtual-workspaces/apimachinery";
import { ProtobufFault, type ProtobufScalar } from "./message.ts";
import { fieldsOf, signed64, WIRE, type WireField } from "./wire.ts";

/** Where a value stands. */
export interface Place {
  /** Its name, for faults. */
  readonly name: string;
  /** Told of JSON that stands within a message. @throws RangeError when there is too much of it */
  readonly count: (json: Buffer) => void;
}

/** One value in its JSON form. @throws ProtobufFault */
export function scalarOf(kind: ProtobufScalar, { type, bytes }: WireField, { name, count }: Place): unknown {
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
export function emptyOf(kind: ProtobufScalar): WireField {
  const type = WIRES[kind] ?? WIRE.bytes;
  return { field: 0, type, bytes: type === WIRE.varint ? ZERO : type === WIRE.fixed64 ? EIGHT : EMPTY };
}

/** Whether JSON has no member for it. */
export function isEmptyScalar(value: unknown): boolean {
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
