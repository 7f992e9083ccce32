import type { JsonSchema, ValidationRule } from "../schema.ts";
import type { EnumCheck, NumberCheck } from "./constraints.ts";
import type { TextCheck } from "./formats/formats.ts";

/** Compiles a regular expression into a check of texts. */
export type PatternCompiler = (source: string) => (text: string) => boolean;

/** Compiles an ECMAScript regular expression. Security: a pattern can take exponential time. */
export function nativePattern(source: string): (text: string) => boolean {
  const expression = new RegExp(source, "u");
  return (text) => expression.test(text);
}

/** Kinds of JSON values, one bit each, so that a schema's types are a mask. */
export const OBJECT = 1;
export const ARRAY = 2;
export const TEXT = 4;
export const INTEGER = 8;
export const NUMBER = 16;
export const BOOLEAN = 32;

/** Compiled schema: it holds everything that does not depend on the value. All nodes have the same shape. */
export interface SchemaNode {
  readonly schema: JsonSchema;

  readonly properties: ReadonlyMap<string, SchemaNode> | undefined;
  /** Schema of the values of a map. */
  readonly additional: SchemaNode | undefined;
  /** Whether pruning keeps members that are not properties. */
  readonly open: boolean;
  /** Whether members that are not properties are errors: `additionalProperties: false`. */
  readonly closed: boolean;
  readonly items: SchemaNode | undefined;
  readonly preserves: boolean;
  readonly embedded: boolean;
  /** Whether null is allowed: it stays, and no default replaces it. */
  readonly nullable: boolean;
  readonly listType: string;
  /** Keys that identify items in an old list; none if items cannot be identified. */
  readonly mapKeys: readonly string[];

  /** Undefined without a default; a default of null counts as none. */
  readonly default: unknown;
  /** Properties that have a default. */
  readonly defaulted: readonly (readonly [name: string, node: SchemaNode])[];
  readonly rules: readonly ValidationRule[];

  /** Bits of the allowed types. */
  readonly types: number;
  /** Types as errors name them, "" for any: `string`, `integer,string`. */
  readonly typeText: string;
  /** Format as written; "" if there is none or it does not apply to the type. */
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
  /** Whether the schema has one of the four keywords above. */
  readonly logical: boolean;

  /** Work to do at this value or below it. Values without work are skipped. */
  readonly tasks: Tasks;
}

/** Kinds of work that most schemas do not need. */
export interface Tasks {
  readonly defaults: boolean;
  readonly embedded: boolean;
  readonly listTypes: boolean;
  readonly rules: boolean;
}

/** Returns the schema of an object's member: of a property, or of the values of a map. */
export function memberNode(node: SchemaNode, name: string): SchemaNode | undefined {
  return node.properties?.get(name) ?? node.additional;
}

/** Returns the bit of a non-null value. 64-bit integers are integers; every other double is a number. */
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

/** Fields that every resource has, whatever its schema declares. */
export const RESOURCE_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
