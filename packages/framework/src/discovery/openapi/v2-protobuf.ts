import { encodeMessage, type FieldContent, type Message } from "./protobuf.ts";
import type { Schema } from "./schema.ts";
import type { SwaggerDocument, SwaggerOperation, SwaggerParameter, SwaggerPath, SwaggerResponse } from "./v2.ts";

/**
 * The document as a message `openapi.v2.Document` of gnostic (OpenAPIv2.proto), which is how client-go reads
 * `/openapi/v2`. Only what {@link SwaggerDocument}s have is written.
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

/** ParametersItem.parameter; within it either body_parameter or, by `in`, one of the non-body sub-schemas. */
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

/** AdditionalPropertiesItem, whose boolean is written even if false, being a member of a oneof. */
function additionalProperties(values: boolean | Schema | undefined): FieldContent {
  if (values === undefined) return undefined;
  return message(typeof values === "boolean" ? { 2: [values] } : { 1: schemaMessage(values) });
}

/** The vendor extensions of anything, each as NamedAny. */
function extensions(object: object): FieldContent {
  const own = Object.entries(object).filter(([key, value]) => key.startsWith("x-") && value !== undefined);
  return own.map(([key, value]) => message({ 1: key, 2: any(value) }));
}

/** An Any carries YAML, and JSON is YAML. */
function any(value: unknown): FieldContent {
  return value === undefined ? undefined : message({ 2: `${JSON.stringify(value)}\n` });
}

/** A map as gnostic has it: a list of name and value. */
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
