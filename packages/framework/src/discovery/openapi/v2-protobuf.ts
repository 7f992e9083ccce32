import type { Schema } from "./schema.ts";
import type { SwaggerDocument, SwaggerOperation, SwaggerParameter, SwaggerPath, SwaggerResponse } from "./v2.ts";

/**
 * Encodes the document as gnostic's message `openapi.v2.Document` (OpenAPIv2.proto), which client-go reads from
 * `/openapi/v2`. Only the fields of {@link SwaggerDocument} are written.
 */
export function encodeSwagger({ swagger, info, paths, definitions }: SwaggerDocument): Buffer {
  return encodeMessage({
    1: swagger,
    2: message({ 1: info.title, 2: info.version }),
    8: message({ 2: entries(paths, pathItem) }),
    9: message({ 1: entries(definitions, schemaFields) }),
  });
}

function pathItem(item: SwaggerPath): Message {
  return {
    2: operation(item.get),
    3: operation(item.put),
    4: operation(item.post),
    5: operation(item.delete),
    8: operation(item.patch),
    9: item.parameters?.map(parametersItem),
  };
}

function operation(one: SwaggerOperation | undefined): FieldContent {
  if (one === undefined) return undefined;
  return message({
    1: one.tags,
    3: one.description,
    5: one.operationId,
    6: one.produces,
    7: one.consumes,
    8: one.parameters?.map(parametersItem),
    9: message({ 1: entries(one.responses, responseValue) }),
    13: extensions(one),
  });
}

/** ParametersItem.parameter, which holds body_parameter or, depending on `in`, one of the non-body sub-schemas. */
function parametersItem(one: SwaggerParameter): FieldContent {
  const { name, in: place, description, required, schema, type } = one;
  if (place === "body") {
    const body = message({ 1: description, 2: name, 3: place, 4: required, 5: schemaMessage(schema) });
    return message({ 1: message({ 1: body }) });
  }
  const common = { 1: required, 2: place, 3: description, 4: name };
  const nonBody: Message =
    place === "query" ? { 3: message({ ...common, 6: type }) } : { 4: message({ ...common, 5: type }) };
  return message({ 1: message({ 2: message(nonBody) }) });
}

/** ResponseValue.response, whose schema is a SchemaItem.schema. */
function responseValue({ description, schema }: SwaggerResponse): Message {
  const item = schema && message({ 1: schemaMessage(schema) });
  return { 1: message({ 1: description, 2: item }) };
}

function schemaMessage(schema: Schema | undefined): FieldContent {
  return schema && message(schemaFields(schema));
}

function schemaFields(schema: Schema): Message {
  const { properties, items, type } = schema;
  return {
    1: schema.$ref,
    2: schema.format,
    3: schema.title,
    4: schema.description,
    5: any(schema.default),
    6: double(schema.multipleOf),
    7: double(schema.maximum),
    8: schema.exclusiveMaximum,
    9: double(schema.minimum),
    10: schema.exclusiveMinimum,
    11: int64(schema.maxLength),
    12: int64(schema.minLength),
    13: schema.pattern,
    14: int64(schema.maxItems),
    15: int64(schema.minItems),
    16: schema.uniqueItems,
    17: int64(schema.maxProperties),
    18: int64(schema.minProperties),
    19: schema.required,
    20: schema.enum?.map(any),
    21: additionalProperties(schema.additionalProperties),
    22: type && message({ 1: [type] }),
    23: items && message({ 1: schemaMessage(items) }),
    25: properties && message({ 1: entries(properties, schemaFields) }),
    29: schema.externalDocs && message({ 1: schema.externalDocs.description, 2: schema.externalDocs.url }),
    30: any(schema.example),
    31: extensions(schema),
  };
}

/** AdditionalPropertiesItem. Its boolean is written even if false, because it is a member of a oneof. */
function additionalProperties(values: boolean | Schema | undefined): FieldContent {
  if (values === undefined) return undefined;
  return message(typeof values === "boolean" ? { 2: [values] } : { 1: schemaMessage(values) });
}

/** Encodes vendor extensions, each as NamedAny. */
function extensions(object: object): FieldContent {
  const own = Object.entries(object).filter(([key, value]) => key.startsWith("x-") && value !== undefined);
  return own.map(([key, value]) => message({ 1: key, 2: any(value) }));
}

/** Any contains YAML, and JSON is YAML. */
function any(value: unknown): FieldContent {
  return value === undefined ? undefined : message({ 2: `${JSON.stringify(value)}\n` });
}

/** Encodes a map as gnostic does: a list of names and values. */
function entries<T>(map: Readonly<Record<string, T>>, fields: (value: T) => Message): FieldContent {
  return Object.entries(map).map(([name, value]) => message({ 1: name, 2: message(fields(value)) }));
}

function message(fields: Message): FieldContent {
  return { message: fields };
}

function double(value: number | undefined): FieldContent {
  return value === undefined || value === 0 ? undefined : { double: value };
}

function int64(value: number | undefined): FieldContent {
  return value === undefined || value === 0 ? undefined : { int64: value };
}

/** Message: the content of its fields by number. */
export type Message = Readonly<Record<number, FieldContent>>;

/**
 * Content of a field: text, a flag, a nested message or a number with its schema type; a list is a repeated field. The
 * values `undefined`, `false` and "" are not written, because proto3 omits defaults.
 */
type FieldContent =
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

/** Encodes a message in protobuf's wire format. */
export function encodeMessage(message: Message): Buffer {
  const writer = new BackwardWriter();
  writer.message(message);
  return writer.bytes();
}

/** Writes from the end to the beginning, so that the length of a nested message is known before it must be written. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(4096);
  /** Start of the bytes written so far. */
  #start = this.#buffer.length;

  /** Returns a copy of the written bytes. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#start));
  }

  message(message: Message): void {
    const fields = Object.entries(message);
    for (const [number, content] of fields.reverse()) this.#field(Number(number), content);
  }

  #field(number: number, content: FieldContent): void {
    if (content === undefined || content === false || content === "") return;
    // In a list, an empty string or false is an element, not an omitted default.
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
      // Counted from the end, which does not move when the buffer grows.
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

  /** Two's complement: a negative number takes ten bytes. */
  #int64(value: number): void {
    const groups: number[] = [];
    for (let rest = BigInt.asUintN(64, BigInt(value)); rest > 0n || groups.length === 0; rest >>= 7n)
      groups.push(Number(rest & 0x7fn));
    let at = this.#back(groups.length);
    for (const [index, group] of groups.entries())
      this.#buffer[at++] = index === groups.length - 1 ? group : group | 0x80;
  }

  /** For tags and lengths, which are below 2^31. */
  #varint(value: number): void {
    const size = value < 0x80 ? 1 : Math.ceil((32 - Math.clz32(value)) / 7);
    let at = this.#back(size);
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80;
    this.#buffer[at] = rest;
  }

  /** Reserves `size` bytes before the written ones, possibly in a new buffer. @returns their start */
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
