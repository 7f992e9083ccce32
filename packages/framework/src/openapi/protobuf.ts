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
  const chunks: Buffer[] = [];
  for (const [number, content] of Object.entries(message)) pushField(chunks, Number(number), content);
  return Buffer.concat(chunks);
}

function pushField(chunks: Buffer[], number: number, content: FieldContent): void {
  if (content === undefined || content === false || content === "") return;
  if (isList(content)) {
    for (const one of content) pushElement(chunks, number, one);
  } else pushElement(chunks, number, content);
}

/** In a repeated field an empty text is a member, not a default. */
function pushElement(chunks: Buffer[], number: number, content: FieldContent): void {
  if (content === undefined || isList(content)) return;
  if (typeof content === "boolean") chunks.push(tag(number, VARINT), varint(content ? 1n : 0n));
  else if (typeof content === "string") pushBytes(chunks, number, Buffer.from(content));
  else if ("message" in content) pushBytes(chunks, number, encodeMessage(content.message));
  else if ("int64" in content) chunks.push(tag(number, VARINT), varint(BigInt.asUintN(64, BigInt(content.int64))));
  else chunks.push(tag(number, FIXED64), double(content.double));
}

function pushBytes(chunks: Buffer[], number: number, bytes: Buffer): void {
  chunks.push(tag(number, LENGTH_DELIMITED), varint(BigInt(bytes.length)), bytes);
}

function tag(number: number, wireType: number): Buffer {
  return varint(BigInt((number << 3) | wireType));
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

function isList(content: FieldContent): content is readonly FieldContent[] {
  return Array.isArray(content);
}
