import type { JsonSchema, ValidationRule } from "../schema.ts";
import { compileEnum, type EnumCheck } from "./enum.ts";
import { formatOf, type TextCheck, textFormat } from "./formats.ts";
import { compileNumber, type NumberCheck } from "./number.ts";

/** Makes a test of texts out of a regular expression. */
export type PatternCompiler = (source: string) => (text: string) => boolean;

/** What a JSON value is, a bit each, so that a schema's types are a mask. */
export const OBJECT = 1;
export const ARRAY = 2;
export const TEXT = 4;
export const INTEGER = 8;
export const NUMBER = 16;
export const BOOLEAN = 32;

/** One schema, prepared: everything that does not depend on the value is decided here. All have the same shape. */
export interface SchemaNode {
  readonly schema: JsonSchema;

  readonly properties: ReadonlyMap<string, SchemaNode> | undefined;
  /** The values of a map. */
  readonly additional: SchemaNode | undefined;
  /** Whether names that are no properties are kept when the object is pruned. */
  readonly open: boolean;
  /** Whether names that are no properties are errors: `additionalProperties: false`. */
  readonly closed: boolean;
  readonly items: SchemaNode | undefined;
  readonly preserves: boolean;
  readonly embedded: boolean;
  /** Whether null may be here: it stays, and no default replaces it. */
  readonly nullable: boolean;
  readonly listType: string;
  /** The keys by which items are found again in an old list; none if they cannot be. */
  readonly mapKeys: readonly string[];

  /** Undefined if there is none; a default of null is none. */
  readonly default: unknown;
  /** The properties that have a default. */
  readonly defaulted: readonly (readonly [name: string, node: SchemaNode])[];
  readonly rules: readonly ValidationRule[];

  /** Bits of the types that a value may have. */
  readonly types: number;
  /** The types as errors name them, "" for any: `string`, `integer,string`. */
  readonly typeText: string;
  /** The format as it is written; "" if there is none or it is not one for the type. */
  readonly format: string;
  readonly textFormat: TextCheck | undefined;
  readonly enum: EnumCheck | undefined;
  readonly number: NumberCheck | undefined;
  readonly minLength: number;
  readonly maxLength: number;
  readonly pattern: string;
  readonly matches: TextCheck | undefined;
  readonly minItems: number;
  readonly maxItems: number;
  readonly minProperties: number;
  readonly maxProperties: number;
  readonly required: readonly string[];
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
  /** Whether there is one of the four above. */
  readonly logical: boolean;

  /** Whether there is something to do at this value or below it, so that what needs nothing costs nothing. */
  readonly tasks: Tasks;
}

/** Kinds of work that most schemas have nothing of. */
export interface Tasks {
  readonly defaults: boolean;
  readonly embedded: boolean;
  readonly listTypes: boolean;
  readonly rules: boolean;
}

const NO_NODES: readonly SchemaNode[] = [];

/** @throws what `pattern` throws on a regular expression that is none */
export function compileNode(schema: JsonSchema, pattern: PatternCompiler): SchemaNode {
  const { additionalProperties: rest } = schema;
  const compile = (child: JsonSchema): SchemaNode => compileNode(child, pattern);
  const properties = compileProperties(schema, compile);
  const additional = typeof rest === "object" ? compile(rest) : undefined;
  const items = schema.items === undefined ? undefined : compile(schema.items);
  const [allOf, anyOf, oneOf] = [schema.allOf, schema.anyOf, schema.oneOf].map(
    (list) => list?.map(compile) ?? NO_NODES,
  );
  const not = schema.not === undefined ? undefined : compile(schema.not);
  const listType = schema["x-kubernetes-list-type"] ?? "atomic";
  const rules = schema["x-kubernetes-validations"] ?? [];
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const defaulted = [...(properties ?? [])].filter(([, child]) => child.default !== undefined);
  const typeNames = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : typesOf(schema);
  const format = formatOf(schema.format, typeNames);
  const { pattern: source = "" } = schema;
  const children = [...(properties?.values() ?? []), additional, items];
  return {
    schema,
    properties,
    additional,
    open: rest !== undefined,
    closed: rest === false,
    items,
    preserves: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedded,
    nullable: schema.nullable === true,
    listType,
    mapKeys: schema.type === "array" && listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [],
    default: schema.default ?? undefined,
    defaulted,
    rules,
    types: typeNames.reduce((mask, name) => mask | maskOf(name), 0),
    typeText: typeNames.join(","),
    format,
    textFormat: textFormat(format),
    enum: compileEnum(schema.enum),
    number: compileNumber(schema, { typeNames, format }),
    minLength: schema.minLength ?? 0,
    maxLength: schema.maxLength ?? Number.POSITIVE_INFINITY,
    pattern: source,
    matches: source === "" ? undefined : pattern(source),
    minItems: schema.minItems ?? 0,
    maxItems: schema.maxItems ?? Number.POSITIVE_INFINITY,
    minProperties: schema.minProperties ?? 0,
    maxProperties: schema.maxProperties ?? Number.POSITIVE_INFINITY,
    required: schema.required ?? [],
    allOf: allOf ?? NO_NODES,
    anyOf: anyOf ?? NO_NODES,
    oneOf: oneOf ?? NO_NODES,
    not,
    logical: [allOf, anyOf, oneOf].some((list) => list !== undefined && list.length > 0) || not !== undefined,
    tasks: {
      defaults: defaulted.length > 0 || children.some((child) => child?.tasks.defaults || child?.default !== undefined),
      embedded: embedded || children.some((child) => child?.tasks.embedded),
      listTypes: listType === "set" || listType === "map" || children.some((child) => child?.tasks.listTypes),
      rules: rules.length > 0 || children.some((child) => child?.tasks.rules),
    },
  };
}

/** The schema of a member of an object: of a property, or of the values of a map. */
export function memberNode(node: SchemaNode, name: string): SchemaNode | undefined {
  return node.properties?.get(name) ?? node.additional;
}

/** The bit of a value that is not null. Integers of 64 bits are integers; every other double is a number. */
export function kindOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return TEXT;
    case "number":
      return Number.isSafeInteger(value) ? INTEGER : NUMBER;
    case "bigint":
      return INTEGER;
    case "boolean":
      return BOOLEAN;
    default:
      return Array.isArray(value) ? ARRAY : OBJECT;
  }
}

function compileProperties(
  { properties }: JsonSchema,
  compile: (schema: JsonSchema) => SchemaNode,
): ReadonlyMap<string, SchemaNode> | undefined {
  const entries = Object.entries(properties ?? {});
  return entries.length === 0 ? undefined : new Map(entries.map(([name, schema]) => [name, compile(schema)]));
}

function typesOf({ type }: JsonSchema): string[] {
  return type === undefined ? [] : [type];
}

function maskOf(type: string): number {
  switch (type) {
    case "object":
      return OBJECT;
    case "array":
      return ARRAY;
    case "string":
      return TEXT;
    case "integer":
      return INTEGER;
    case "number":
      return NUMBER | INTEGER;
    case "boolean":
      return BOOLEAN;
    default:
      return 0;
  }
}
