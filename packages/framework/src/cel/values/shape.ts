import type { JsonSchema } from "@virtual-workspaces/apimachinery";

export type ShapeType =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "int"
  | "list"
  | "map"
  | "object"
  | "string"
  | "timestamp";

/** CEL's view of the values of a schema: their type and maximum size. */
export interface Shape {
  readonly type: ShapeType;
  /** Maximum number of elements, entries or characters; 0 for other types. */
  readonly max: number;
  /** Minimum size of a value, in bytes of JSON. */
  readonly minSize: number;
  /** Shape of list elements and map values. */
  readonly element: Shape | undefined;
  /** Shapes of object fields, by CEL name. */
  readonly fields: ReadonlyMap<string, Shape> | undefined;
}

/** Kubernetes estimates unlimited values by what fits into a request. */
export const MAX_REQUEST_BYTES: number = 3 * 1024 * 1024;

const LONGEST_TEXT = MAX_REQUEST_BYTES - 2;
const TEXT: JsonSchema = { type: "string" };
const OBJECT_META: JsonSchema = { type: "object", properties: { name: TEXT, generateName: TEXT } };

/** Returns the shape of a schema, or undefined if CEL cannot represent its values. `root`: of a whole object. */
export function shapeOf(schema: JsonSchema, root: boolean): Shape | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const max = schema.maxLength === undefined ? LONGEST_TEXT : 4 * positive(schema.maxLength);
    return leaf("dyn", { max, minSize: 1 });
  }
  switch (schema.type) {
    case "array":
      return listShape(schema);
    case "object":
      return isMapSchema(schema) && !root ? mapShape(schema) : objectShape(root ? withObjectMeta(schema) : schema);
    case "string":
      return textShape(schema);
    case "boolean":
      return leaf("bool", { max: 0, minSize: 4 });
    case "number":
      return leaf("double", { max: 0, minSize: 1 });
    case "integer":
      return leaf("int", { max: 0, minSize: 1 });
    default:
      return undefined;
  }
}

/** Rules at the root see apiVersion, kind, metadata.name and metadata.generateName, whatever the schema contains. */
export function withObjectMeta(schema: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: OBJECT_META } };
}

export function isMapSchema(schema: JsonSchema): boolean {
  return typeof schema.additionalProperties === "object";
}

function leaf(type: ShapeType, size: { max: number; minSize: number }): Shape {
  return { type, ...size, element: undefined, fields: undefined };
}

function listShape(schema: JsonSchema): Shape | undefined {
  const element = schema.items && shapeOf(schema.items, isEmbedded(schema.items));
  if (element === undefined) return undefined;
  const max = schema.maxItems === undefined ? floor(LONGEST_TEXT / (element.minSize + 1)) : positive(schema.maxItems);
  return { type: "list", max, minSize: 2, element, fields: undefined };
}

function mapShape(schema: JsonSchema): Shape | undefined {
  const values = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  const element = values && shapeOf(values, isEmbedded(values));
  if (element === undefined) return undefined;
  const fitting = floor(LONGEST_TEXT / (element.minSize + 6));
  const max = schema.maxProperties === undefined ? fitting : positive(schema.maxProperties);
  return { type: "map", max, minSize: 2, element, fields: undefined };
}

function objectShape(schema: JsonSchema): Shape {
  const fields = new Map<string, Shape>();
  let minSize = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const shape = shapeOf(property, isEmbedded(property));
    if (shape === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, shape);
    if (schema.required?.includes(name) && property.default === undefined) {
      minSize += Buffer.byteLength(name) + shape.minSize + 4;
    }
  }
  return { type: "object", max: 0, minSize, element: undefined, fields };
}

function textShape(schema: JsonSchema): Shape {
  switch (schema.format) {
    case "byte":
      return leaf("bytes", {
        max: schema.maxLength === undefined ? LONGEST_TEXT : positive(schema.maxLength),
        minSize: 2,
      });
    case "duration":
      return leaf("duration", { max: 32, minSize: 3 });
    case "date":
      return leaf("timestamp", { max: 12, minSize: 12 });
    case "date-time":
      return leaf("timestamp", { max: 32, minSize: 21 });
    default:
      return leaf("string", { max: longestText(schema), minSize: 2 });
  }
}

function longestText(schema: JsonSchema): number {
  if (schema.maxLength !== undefined) return 4 * positive(schema.maxLength);
  if (schema.enum === undefined || schema.enum.length === 0) return LONGEST_TEXT;
  return Math.max(0, ...schema.enum.map((text) => (typeof text === "string" ? Buffer.byteLength(text) : 0)));
}

const isEmbedded = (schema: JsonSchema): boolean => schema["x-kubernetes-embedded-resource"] === true;
const positive = (limit: number): number => Math.max(0, limit);
const floor = Math.floor;

const KEYWORDS = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while"
  ).split(" "),
);
const SIGNS: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};
const WORDS: Readonly<Record<string, string>> = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/** Returns the CEL name of a property (`x-y` is `x__dash__y`), or undefined if rules cannot refer to it. */
export function escapeName(name: string): string | undefined {
  if (KEYWORDS.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (sign) => SIGNS[sign] ?? sign);
}

/** Returns the property for a CEL name, or undefined if there is none. */
export function unescapeName(escaped: string): string | undefined {
  let known = true;
  const name = escaped.replace(/__[^_]+__/g, (sequence) => {
    const word = sequence.slice(2, -2);
    if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? "";
    known &&= KEYWORDS.has(word) && sequence.length === escaped.length;
    return word;
  });
  return known ? name : undefined;
}
