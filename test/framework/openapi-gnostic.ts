// Decoder for what the framework writes: protobuf's wire format and the messages of gnostic's OpenAPIv2.proto, back to the
// JSON document. Unknown fields are errors.

/** Fields by number, in order; varints as bigint, fixed64 and length-delimited as bytes. */
type Fields = Map<number, (bigint | Buffer)[]>;

type Read = (value: bigint | Buffer) => unknown;

/** Fields of a message, and how they contribute to the decoded object. */
type Shape = Readonly<Record<number, (object: Record<string, unknown>, values: readonly (bigint | Buffer)[]) => void>>;

export function decodeFields(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("cut off in a varint");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error("cut off in a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    if (wireType !== 0 && wireType !== 1 && wireType !== 2) throw new Error(`wire type ${wireType}`);
    const value = wireType === 0 ? varint() : take(wireType === 1 ? 8 : Number(varint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

function decode(bytes: Buffer, shape: Shape): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [number, values] of decodeFields(bytes)) {
    const add = shape[number];
    if (add === undefined) throw new Error(`unknown field ${number}`);
    add(object, values);
  }
  return object;
}

const text: Read = (value) => String(value as Buffer);
const bool: Read = (value) => value === 1n;
const int64: Read = (value) => Number(BigInt.asIntN(64, value as bigint));
const double: Read = (value) => (value as Buffer).readDoubleLE();
/** openapi.v2.Any, whose YAML the framework writes as JSON. */
const any: Read = (value) => JSON.parse(String(decodeFields(value as Buffer).get(2)?.[0]));
const message =
  (shape: () => Shape): Read =>
  (value) =>
    decode(value as Buffer, shape());
/** A message with a single relevant field. */
const only =
  (number: number, read: Read): Read =>
  (value) =>
    read(decodeFields(value as Buffer).get(number)?.[0] ?? Buffer.alloc(0));

const one =
  (name: string, read: Read): Shape[number] =>
  (object, [value]) => {
    object[name] = value === undefined ? undefined : read(value);
  };
const many =
  (name: string, read: Read): Shape[number] =>
  (object, values) => {
    object[name] = values.map(read);
  };
/** A list of name and value, each a property of the object. */
const entries =
  (read: Read): Shape[number] =>
  (object, values) => {
    for (const value of values) {
      const pair = decodeFields(value as Buffer);
      object[String(pair.get(1)?.[0])] = read(pair.get(2)?.[0] ?? Buffer.alloc(0));
    }
  };
const map = (read: Read): Read => message(() => ({ 1: entries(read) }));

const schema: Shape = {
  1: one("$ref", text),
  2: one("format", text),
  3: one("title", text),
  4: one("description", text),
  5: one("default", any),
  6: one("multipleOf", double),
  7: one("maximum", double),
  8: one("exclusiveMaximum", bool),
  9: one("minimum", double),
  10: one("exclusiveMinimum", bool),
  11: one("maxLength", int64),
  12: one("minLength", int64),
  13: one("pattern", text),
  14: one("maxItems", int64),
  15: one("minItems", int64),
  16: one("uniqueItems", bool),
  17: one("maxProperties", int64),
  18: one("minProperties", int64),
  19: many("required", text),
  20: many("enum", any),
  21: (object, [value]) => {
    const either = decodeFields(value as Buffer);
    const flag = either.get(2)?.[0];
    object["additionalProperties"] = flag === undefined ? message(() => schema)(either.get(1)?.[0] ?? 0n) : bool(flag);
  },
  22: one("type", only(1, text)),
  23: one(
    "items",
    only(
      1,
      message(() => schema),
    ),
  ),
  25: one("properties", map(message(() => schema))),
  29: one(
    "externalDocs",
    message(() => ({ 1: one("description", text), 2: one("url", text) })),
  ),
  30: one("example", any),
  31: entries(any),
};

const bodyParameter: Shape = {
  1: one("description", text),
  2: one("name", text),
  3: one("in", text),
  4: one("required", bool),
  5: one(
    "schema",
    message(() => schema),
  ),
};

const common: Shape = {
  1: one("required", bool),
  2: one("in", text),
  3: one("description", text),
  4: one("name", text),
};

/** ParametersItem.parameter, a oneof of body_parameter and non_body_parameter, the latter one of query and path. */
const parameter: Read = only(1, (value) => {
  const fields = decodeFields(value as Buffer);
  const body = fields.get(1)?.[0];
  if (body !== undefined) return decode(body as Buffer, bodyParameter);
  const nonBody = decodeFields(fields.get(2)?.[0] as Buffer);
  const query = nonBody.get(3)?.[0];
  if (query !== undefined) return decode(query as Buffer, { ...common, 6: one("type", text) });
  return decode(nonBody.get(4)?.[0] as Buffer, { ...common, 5: one("type", text) });
});

const response: Shape = {
  1: one("description", text),
  2: one(
    "schema",
    only(
      1,
      message(() => schema),
    ),
  ),
};

const operation: Shape = {
  1: many("tags", text),
  3: one("description", text),
  5: one("operationId", text),
  6: many("produces", text),
  7: many("consumes", text),
  8: many("parameters", parameter),
  9: one(
    "responses",
    map(
      only(
        1,
        message(() => response),
      ),
    ),
  ),
  13: entries(any),
};

const pathItem: Shape = {
  2: one(
    "get",
    message(() => operation),
  ),
  3: one(
    "put",
    message(() => operation),
  ),
  4: one(
    "post",
    message(() => operation),
  ),
  5: one(
    "delete",
    message(() => operation),
  ),
  8: one(
    "patch",
    message(() => operation),
  ),
  9: many("parameters", parameter),
};

const document: Shape = {
  1: one("swagger", text),
  2: one(
    "info",
    message(() => ({ 1: one("title", text), 2: one("version", text) })),
  ),
  8: one(
    "paths",
    message(() => ({ 2: entries(message(() => pathItem)) })),
  ),
  9: one("definitions", map(message(() => schema))),
};

/** Decodes an `openapi.v2.Document` to its JSON document. */
export function decodeSwagger(bytes: Buffer): Record<string, unknown> {
  return decode(bytes, document);
}
