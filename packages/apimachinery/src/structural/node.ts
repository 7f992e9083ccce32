import type { JsonSchema, ValidationRule } from "../schema.ts";
import type { EnumCheck, NumberCheck } from "./constraints.ts";
import type { TextCheck } from "./formats/formats.ts";

/** Makes a test of texts out of a regular expression. */
export type PatternCompiler = (source: string) => (text: string) => boolean;

/** ECMAScript's regular expressions, which a pattern can keep busy for ever. */
export function nativePattern(source: string): (text: string) => boolean {
  const expression = new RegExp(source, "u");
  return (text) => expression.test(text);
}

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

/** The fields that every resource has, whatever its schema says. */
export const RESOURCE_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
