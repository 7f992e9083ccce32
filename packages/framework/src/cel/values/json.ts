import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { isJsonObject, type JsonObject, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { setMember } from "@virtual-workspaces/apimachinery/json";
import { keyedBy } from "./compare.ts";
import {
  CelError,
  formatDuration,
  formatTimestamp,
  parseBytes,
  parseSchemaDuration,
  parseSchemaTimestamp,
} from "./formatted.ts";
import { ObjectValue, PatchValue } from "./object-value.ts";
import { escapeName, isMapSchema, withObjectMeta } from "./shape.ts";

/** Parts of a value that an expression reads, by CEL name, or all of them. Other parts of objects are not converted. */
export type Reads = "all" | ReadonlyMap<string, Reads>;

/** Converts JSON to a value of the library according to its schema. Throws a CelError if it does not match. */
export function fromJson(json: unknown, schema: JsonSchema, reads: Reads): unknown {
  if (json === null || json === undefined) {
    if (schema.nullable === true) return null;
    throw new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"] === true) return typeof json === "string" ? json : integer(json);
  switch (schema.type) {
    case "object":
      if (!isJsonObject(json)) throw unexpected("a map for the provided schema with type=object", json);
      return fromObject(json, isEmbedded(schema) ? withObjectMeta(schema) : schema, reads);
    case "array":
      if (!Array.isArray(json)) throw unexpected("an array for the provided schema with type=array", json);
      return fromList(json, schema);
    case "string":
      if (typeof json !== "string") throw unexpected("string", json);
      return fromText(json, schema.format);
    case "number":
      if (typeof json !== "number" && typeof json !== "bigint") throw unexpected("float", json);
      return Number(json);
    case "integer":
      return integer(json);
    case "boolean":
      if (typeof json !== "boolean") throw unexpected("bool", json);
      return json;
    default:
      return fromUnknown(json);
  }
}

function fromObject(json: JsonObject, schema: JsonSchema, reads: Reads): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const isMap = isMapSchema(schema) && schema.properties === undefined;
  for (const name of Object.keys(json)) {
    const key = isMap ? name : (escapeName(name) ?? name);
    const inner = reads === "all" ? "all" : (reads.get(key) ?? reads.get(name));
    const member = memberSchema(schema, name);
    const value = json[name];
    if (inner === undefined || member === undefined || (!isMap && value === null)) continue;
    const converted = fromJson(value, member, inner);
    values.set(key, converted);
    if (reads !== "all" && reads.has(name)) values.set(name, converted);
  }
  return values;
}

function memberSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) return Object.hasOwn(properties, name) ? properties[name] : undefined;
  return typeof additionalProperties === "object" ? additionalProperties : {};
}

/** Lists of type set become sets, and lists of type map get their keys. */
function fromList(json: readonly unknown[], schema: JsonSchema): unknown {
  const items = schema.items ?? {};
  const values = json.map((item) => fromJson(item, items, "all"));
  const type = schema["x-kubernetes-list-type"];
  if (type === "set" && values.every(isScalar)) return new Set(values);
  return type === "map" ? keyedBy(values, schema["x-kubernetes-list-map-keys"] ?? []) : values;
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function fromText(text: string, format: string | undefined): unknown {
  switch (format) {
    case "duration":
      return parseSchemaDuration(text);
    case "date":
    case "date-time":
      return parseSchemaTimestamp(text, format);
    case "byte":
      return parseBytes(text);
    default:
      return text;
  }
}

function integer(json: unknown): bigint {
  if (typeof json === "number" && Number.isInteger(json)) return integer(BigInt(json));
  if (typeof json === "bigint" && BigInt.asIntN(64, json) === json) return json;
  throw unexpected("int", json);
}

/** Values without a schema support only comparison. */
function fromUnknown(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromUnknown);
  if (isJsonObject(json)) return new Map(Object.entries(json).map(([name, value]) => [name, fromUnknown(value)]));
  return json;
}

function unexpected(wanted: string, json: unknown): CelError {
  const type = Array.isArray(json)
    ? "[]interface {}"
    : json !== null && typeof json === "object"
      ? "map[string]interface {}"
      : typeof json;
  return new CelError(`invalid data, expected ${wanted}, got ${type}`);
}

function isEmbedded(schema: JsonSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** Converts a value of the library to JSON. @throws CelError for a value that has none */
export function toJson(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof UnsignedInt) return toJson(value.valueOf());
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, toJson);
  const fields = value instanceof Map ? value : value instanceof ObjectValue ? value.fields : undefined;
  if (fields !== undefined) return objectOf(fields as ReadonlyMap<unknown, unknown>);
  if (value instanceof PatchValue) return objectOf(value.fields);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Date) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  throw new CelError("no such overload");
}

function objectOf(fields: ReadonlyMap<unknown, unknown>): JsonObject {
  const object: JsonObject = {};
  for (const [key, value] of fields) {
    if (typeof key !== "string") throw new CelError(`map key "${String(key)}" is not a string`);
    setMember(object, key, toJson(value));
  }
  return object;
}
