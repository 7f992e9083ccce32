import { ProtobufFault } from "./message.ts";

// Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding): tags, and values by wire type.

/** How a value is written: a number of variable length, 8 bytes, bytes with their length, 4 bytes. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A field as it stands there. */
export interface WireField {
  readonly field: number;
  readonly type: number;
  /** Its value: what the length counts, or the number's own bytes. */
  readonly bytes: Buffer;
}

/** The fields of a message in their order; a view of its bytes each. @throws ProtobufFault */
export function* fieldsOf(bytes: Buffer): Iterable<WireField> {
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
export function signed64(varint: Buffer): number | bigint {
  let value = 0n;
  for (const [at, byte] of varint.entries()) value |= BigInt(byte & 0x7f) << BigInt(7 * at);
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}
