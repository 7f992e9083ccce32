import { isUtf8 } from "node:buffer";

/** The media type under which Kubernetes' typed Go clients send built-in kinds, without asking whether it is taken. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/**
 * What is read of a message of Kubernetes' protobuf, by field number: texts, messages, and lists and maps of them. Fields
 * that are not named are skipped.
 */
export interface ProtobufMessage {
  readonly [field: number]: ProtobufField;
}

/** A text, unless `of` says otherwise. */
export interface ProtobufField {
  readonly name: string;
  readonly of?: ProtobufMessage;
  readonly form?: "list" | "map";
}

/** What is no such message. */
export class ProtobufFault extends Error {
  override readonly name: string = "ProtobufFault";
}

const MAGIC = Buffer.from("k8s\0");
const TYPE: ProtobufMessage = { 1: { name: "apiVersion" }, 2: { name: "kind" } };
const BYTES = 2;
/** `runtime.Unknown`: the type, the message, and how it is packed, which nobody does. */
const ENVELOPE = { type: 1, raw: 2, contentEncoding: 3 } as const;

/** The object in a body as Kubernetes' clients send it: four bytes, and an envelope that says its type. @throws ProtobufFault */
export function readProtobuf(body: Buffer, message: ProtobufMessage): Record<string, unknown> {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ProtobufFault("it does not begin as Kubernetes' protobuf does");
  let type: Record<string, unknown> = {};
  let raw: Buffer = Buffer.alloc(0);
  for (const { field, bytes } of fieldsOf(body.subarray(MAGIC.length))) {
    if (bytes === undefined) continue;
    if (field === ENVELOPE.type) type = read(bytes, TYPE);
    if (field === ENVELOPE.raw) raw = bytes;
    if (field === ENVELOPE.contentEncoding && bytes.length > 0) throw new ProtobufFault("its content is encoded");
  }
  return { ...type, ...read(raw, message) };
}

function read(bytes: Buffer, message: ProtobufMessage): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { field, bytes: value } of fieldsOf(bytes)) {
    const known = message[field];
    if (known === undefined) continue;
    if (value === undefined) throw new ProtobufFault(`${known.name} is of another type`);
    add(object, known, value);
  }
  return object;
}

const ENTRY: ProtobufMessage = { 1: { name: "key" }, 2: { name: "value" } };

function add(object: Record<string, unknown>, { name, of, form }: ProtobufField, bytes: Buffer): void {
  if (form === "map") {
    const { key = "", value = "" } = read(bytes, ENTRY);
    // biome-ignore lint/suspicious/noAssignInExpressions: made when first needed
    const map = (object[name] ??= Object.create(null)) as Record<string, unknown>;
    map[key as string] = value;
    return;
  }
  const value = of === undefined ? textOf(bytes, name) : read(bytes, of);
  if (form !== "list") object[name] = value;
  // biome-ignore lint/suspicious/noAssignInExpressions: made when first needed
  else ((object[name] ??= []) as unknown[]).push(value);
}

function textOf(bytes: Buffer, name: string): string {
  if (!isUtf8(bytes)) throw new ProtobufFault(`${name} is not UTF-8`);
  return bytes.toString("utf8");
}

interface Field {
  readonly field: number;
  /** Of what has a length; `undefined` of numbers, which nothing here needs. */
  readonly bytes: Buffer | undefined;
}

function* fieldsOf(bytes: Buffer): Iterable<Field> {
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = varint(bytes, at);
    const field = Math.floor(tag / 8);
    const [length, start] = extent(bytes, tag % 8, afterTag);
    if (field === 0 || start + length > bytes.length) throw new ProtobufFault("a field ends behind its message");
    at = start + length;
    yield { field, bytes: tag % 8 === BYTES ? bytes.subarray(start, at) : undefined };
  }
}

/** How long a field's value is, and where it begins. */
function extent(bytes: Buffer, wireType: number, at: number): [length: number, start: number] {
  switch (wireType) {
    case 0:
      return [varint(bytes, at)[1] - at, at];
    case 1:
      return [8, at];
    case BYTES:
      return varint(bytes, at);
    case 5:
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
