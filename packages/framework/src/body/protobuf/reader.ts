import { BODY_LIMITS } from "../../util/limits.ts";
import { ProtobufFault, type ProtobufField, type ProtobufMessage } from "./message.ts";
import { emptyOf, isEmptyScalar, scalarOf } from "./values.ts";
import { fieldsOf, WIRE, type WireField } from "./wire.ts";

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
