import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";

/** Tag 55799 (self-described CBOR), with which Kubernetes begins every document. */
const SELF_DESCRIBED = Buffer.from("d9d9f7", "hex");

const UNSIGNED = 0x00;
const NEGATIVE = 0x20;
const BYTES = 0x40;
const ARRAY = 0x80;
const MAP = 0xa0;
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const FLOAT64 = 0xfb;

/** Returns a JSON document as a CBOR document. */
export function cborDocument(json: Buffer): Buffer {
  return Buffer.concat([SELF_DESCRIBED, cborValue(json)]);
}

/** Returns a JSON value as CBOR that can be part of a document. */
export function cborValue(json: Buffer): Buffer {
  return new CborWriter().value(parseOwnJson(json.toString("utf8"))).bytes();
}

/** Returns the start of a document: an object whose last member, an array of `count` items, is left open. */
export function cborListHead(members: object, items: string, count: number): Buffer {
  const writer = new CborWriter();
  const others = Object.entries(members);
  writer.head(MAP, others.length + 1);
  for (const [name, value] of others) writer.string(name).value(value);
  writer.string(items).head(ARRAY, count);
  return Buffer.concat([SELF_DESCRIBED, writer.bytes()]);
}

/** Returns a watch event up to its object, which is a document. @param details further members of the event */
export function cborEventHead(type: string, details: object): Buffer {
  const others = Object.entries(details);
  const writer = new CborWriter()
    .head(MAP, others.length + 2)
    .string("type")
    .string(type);
  for (const [name, value] of others) writer.string(name).value(value);
  return Buffer.concat([SELF_DESCRIBED, writer.string("object").bytes()]);
}

/**
 * Writes values of JSON. Strings and names become byte strings, as from Kubernetes: only so do Go clients read base64 into
 * `[]byte`. The library's encoder takes several times as long.
 */
class CborWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;

  /** Returns a copy of what has been written. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  value(value: unknown): this {
    if (typeof value === "string") return this.string(value);
    if (typeof value === "number") return this.#number(value);
    if (typeof value === "boolean") return this.#byte(value ? TRUE : FALSE);
    if (typeof value === "bigint") return value < 0n ? this.#long(NEGATIVE, -1n - value) : this.#long(UNSIGNED, value);
    if (Array.isArray(value)) {
      this.head(ARRAY, value.length);
      for (const item of value) this.value(item);
      return this;
    }
    if (!isJsonObject(value)) return this.#byte(NULL);
    const names = Object.keys(value);
    this.head(MAP, names.length);
    for (const name of names) this.string(name).value(value[name]);
    return this;
  }

  string(text: string): this {
    const length = Buffer.byteLength(text);
    this.head(BYTES, length);
    this.#reserve(length);
    this.#length += this.#buffer.write(text, this.#length);
    return this;
  }

  /** Writes the head of an item: its type, and a length or number. */
  head(type: number, count: number): this {
    if (count < 24) return this.#byte(type + count);
    if (count < 2 ** 8) return this.#byte(type + 24).#byte(count);
    if (count >= 2 ** 32) return this.#long(type, BigInt(count));
    this.#reserve(5);
    if (count < 2 ** 16) {
      this.#buffer[this.#length] = type + 25;
      this.#length = this.#buffer.writeUInt16BE(count, this.#length + 1);
    } else {
      this.#buffer[this.#length] = type + 26;
      this.#length = this.#buffer.writeUInt32BE(count, this.#length + 1);
    }
    return this;
  }

  #number(value: number): this {
    if (Number.isSafeInteger(value)) return value < 0 ? this.head(NEGATIVE, -1 - value) : this.head(UNSIGNED, value);
    this.#byte(FLOAT64).#reserve(8);
    this.#length = this.#buffer.writeDoubleBE(value, this.#length);
    return this;
  }

  #long(type: number, value: bigint): this {
    this.#byte(type + 27).#reserve(8);
    this.#length = this.#buffer.writeBigUInt64BE(value, this.#length);
    return this;
  }

  #byte(byte: number): this {
    this.#reserve(1);
    this.#buffer[this.#length++] = byte;
    return this;
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
