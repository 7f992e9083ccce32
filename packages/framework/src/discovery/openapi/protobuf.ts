/** A message: the content of its fields by their numbers. */
export type Message = Readonly<Record<number, FieldContent>>;

/**
 * What can be written: text, a flag, a nested message, a list of any of them as a repeated field, and numbers with
 * the type they have in the schema. `undefined`, `false` and "" are not written, as proto3 does with defaults.
 */
export type FieldContent =
  | string
  | boolean
  | { readonly double: number }
  | { readonly int64: number }
  | { readonly message: Message }
  | readonly FieldContent[]
  | undefined;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

/** A message in protobuf's wire format. */
export function encodeMessage(message: Message): Buffer {
  const writer = new BackwardWriter();
  writer.message(message);
  return writer.bytes();
}

/** Writes from the end to the beginning, so that the length of a nested message is known once it is to be written. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(4096);
  /** Where the bytes written so far begin. */
  #start = this.#buffer.length;

  /** What was written, in memory of its own. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#start));
  }

  message(message: Message): void {
    const fields = Object.entries(message);
    for (const [number, content] of fields.reverse()) this.#field(Number(number), content);
  }

  #field(number: number, content: FieldContent): void {
    if (content === undefined || content === false || content === "") return;
    // Within a list an empty text or false is a member, not a default.
    if (isList(content)) for (const one of content.toReversed()) this.#element(number, one);
    else this.#element(number, content);
  }

  #element(number: number, content: FieldContent): void {
    if (content === undefined || isList(content)) return;
    if (typeof content === "boolean") this.#tagged(number, VARINT, () => this.#varint(content ? 1 : 0));
    else if (typeof content === "string") this.#delimited(number, () => this.#text(content));
    else if ("message" in content) this.#delimited(number, () => this.message(content.message));
    else if ("int64" in content) this.#tagged(number, VARINT, () => this.#int64(content.int64));
    else this.#tagged(number, FIXED64, () => this.#double(content.double));
  }

  #delimited(number: number, write: () => void): void {
    this.#tagged(number, LENGTH_DELIMITED, () => {
      // Counted from the end, which stays where it is when the buffer grows.
      const before = this.#buffer.length - this.#start;
      write();
      this.#varint(this.#buffer.length - this.#start - before);
    });
  }

  #tagged(number: number, wireType: number, write: () => void): void {
    write();
    this.#varint((number << 3) | wireType);
  }

  #text(text: string): void {
    const at = this.#back(Buffer.byteLength(text));
    this.#buffer.write(text, at);
  }

  #double(value: number): void {
    const at = this.#back(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  /** Two's complement, so that a negative number takes ten bytes. */
  #int64(value: number): void {
    const groups: number[] = [];
    for (let rest = BigInt.asUintN(64, BigInt(value)); rest > 0n || groups.length === 0; rest >>= 7n)
      groups.push(Number(rest & 0x7fn));
    let at = this.#back(groups.length);
    for (const [index, group] of groups.entries())
      this.#buffer[at++] = index === groups.length - 1 ? group : group | 0x80;
  }

  /** Of tags and lengths, which are below 2^31. */
  #varint(value: number): void {
    const size = value < 0x80 ? 1 : Math.ceil((32 - Math.clz32(value)) / 7);
    let at = this.#back(size);
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80;
    this.#buffer[at] = rest;
  }

  /** Makes room for `size` bytes before those written, maybe in a new buffer. @returns where they begin */
  #back(size: number): number {
    if (size > this.#start) this.#grow(size);
    this.#start -= size;
    return this.#start;
  }

  #grow(size: number): void {
    const written = this.#buffer.subarray(this.#start);
    const larger = Buffer.allocUnsafe(2 * (written.length + size));
    written.copy(larger, larger.length - written.length);
    this.#start = larger.length - written.length;
    this.#buffer = larger;
  }
}

function isList(content: FieldContent): content is readonly FieldContent[] {
  return Array.isArray(content);
}
