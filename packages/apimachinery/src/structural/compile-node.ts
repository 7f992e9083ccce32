import { cloneJson } from "../json/value.ts";
import type { JsonSchema } from "../schema.ts";
import { compileEnum, compileNumber } from "./constraints.ts";
import { tryCoerceEmbedded } from "./embedded.ts";
import { formatOf, textFormat } from "./formats/formats.ts";
import {
  ARRAY,
  BOOLEAN,
  INTEGER,
  NUMBER,
  OBJECT,
  type PatternCompiler,
  type SchemaNode,
  type Tasks,
  TEXT,
} from "./node.ts";
import { pruneValue } from "./prune-fields.ts";

/** Shared empty list: nodes are many, and most are nearly empty. */
const NONE: readonly never[] = [];

/** Larger than any real count, and still an integer that V8 stores unboxed. */
const UNLIMITED = 2 ** 31 - 1;

export interface NodeOptions {
  readonly pattern: PatternCompiler;
  /**
   * Whether the node is for the check of defaults. Kubernetes converts that schema differently: `x-kubernetes-int-or-string`
   * does not limit types, and formats without meaning are not dropped.
   */
  readonly forDefaults?: boolean;
}

/** @throws the error of `pattern` for an invalid regular expression */
export function compileNode(schema: JsonSchema, options: NodeOptions): SchemaNode {
  const { pattern, forDefaults = false } = options;
  const { additionalProperties: rest } = schema;
  const compile = (child: JsonSchema): SchemaNode => compileNode(child, options);
  const properties = compileProperties(schema, compile);
  const additional = typeof rest === "object" ? compile(rest) : undefined;
  const items = schema.items === undefined ? undefined : compile(schema.items);
  const [allOf, anyOf, oneOf] = [schema.allOf, schema.anyOf, schema.oneOf].map((list) => list?.map(compile) ?? NONE);
  const not = schema.not === undefined ? undefined : compile(schema.not);
  const listType = schema["x-kubernetes-list-type"] ?? "atomic";
  const rules = schema["x-kubernetes-validations"] ?? NONE;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const defaulted = [...(properties ?? [])].filter(([, child]) => child.default !== undefined);
  const intOrString = schema["x-kubernetes-int-or-string"] === true && !forDefaults;
  const typeNames = intOrString ? ["integer", "string"] : typesOf(schema);
  const known = formatOf(schema.format, typeNames);
  const format = forDefaults ? (schema.format ?? "") : known;
  const { pattern: source = "" } = schema;
  const children = [...(properties?.values() ?? []), additional, items];
  const node: SchemaNode = {
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
    mapKeys: schema.type === "array" && listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? NONE) : NONE,
    default: schema.default ?? undefined,
    defaulted: defaulted.length === 0 ? NONE : defaulted,
    rules,
    types: typeNames.reduce((mask, name) => mask | maskOf(name), 0),
    typeText: typeNames.join(","),
    format,
    textFormat: textFormat(format),
    enum: compileEnum(schema.enum),
    number: compileNumber(schema, { typeNames, format: known }),
    minLength: schema.minLength ?? 0,
    maxLength: schema.maxLength ?? UNLIMITED,
    pattern: source,
    matches: source === "" ? undefined : pattern(source),
    minItems: schema.minItems ?? 0,
    maxItems: schema.maxItems ?? UNLIMITED,
    minProperties: schema.minProperties ?? 0,
    maxProperties: schema.maxProperties ?? UNLIMITED,
    required: schema.required ?? NONE,
    allOf: allOf ?? NONE,
    anyOf: anyOf ?? NONE,
    oneOf: oneOf ?? NONE,
    not,
    logical: [allOf, anyOf, oneOf].some((list) => list !== undefined && list.length > 0) || not !== undefined,
    tasks: tasksOf({
      defaults: defaulted.length > 0 || children.some((child) => child?.tasks.defaults || child?.default !== undefined),
      embedded: embedded || children.some((child) => child?.tasks.embedded),
      listTypes: listType === "set" || listType === "map" || children.some((child) => child?.tasks.listTypes),
      rules: rules.length > 0 || children.some((child) => child?.tasks.rules),
    }),
  };
  return node.default === undefined || forDefaults ? node : { ...node, default: prunedDefault(node) };
}

const ALL_TASKS: readonly Tasks[] = Array.from({ length: 16 }, (_, bits) => ({
  defaults: (bits & 1) !== 0,
  embedded: (bits & 2) !== 0,
  listTypes: (bits & 4) !== 0,
  rules: (bits & 8) !== 0,
}));

/** Returns the same object for the same tasks. */
function tasksOf(tasks: Tasks): Tasks {
  const same = ({ defaults, embedded, listTypes, rules }: Tasks): boolean =>
    defaults === tasks.defaults &&
    embedded === tasks.embedded &&
    listTypes === tasks.listTypes &&
    rules === tasks.rules;
  return ALL_TASKS.find(same) ?? tasks;
}

/** Removes fields from a default that its own schema does not know. */
function prunedDefault(node: SchemaNode): unknown {
  const value = cloneJson(node.default);
  pruneValue(value, node, node.embedded);
  tryCoerceEmbedded(node, value);
  return value;
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
