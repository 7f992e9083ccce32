import { type Causes, fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../meta/field-cause.ts";
import type { JsonSchema, ValidationRule } from "../../schema.ts";
import { resolveFieldPath } from "../field-path.ts";
import { RESOURCE_FIELDS } from "../node.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/** OpenAPI keywords that a CustomResourceDefinition cannot have, each with a test whether it is set. */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: isFilled,
  additionalItems: isGiven,
  patternProperties: isFilled,
  definitions: isFilled,
  dependencies: isGiven,
  $ref: isGiven,
};

/** Facts that a schema inherits from the schemas around it. */
interface Context {
  readonly path: string;
  readonly root: boolean;
  /** Why a default is not allowed; undefined if it is. */
  readonly noDefaults: string | undefined;
  readonly insideMeta: boolean;
}

/** Returns the faults of a schema's keywords (apiextensions' ValidateCustomResourceDefinitionOpenAPISchema), except CEL. */
export function keywordProblems(schema: JsonSchema, path: string): Causes {
  return allKeywordProblems(schema, { path, root: true, noDefaults: undefined, insideMeta: false });
}

function* allKeywordProblems(schema: JsonSchema, context: Context): Causes {
  const { path } = context;
  yield* standardProblems(schema, context);
  yield* childProblems(schema, { ...context, root: false }, context.root);
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    yield fieldInvalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined");
  yield* mapTypeProblems(schema, path);
  yield* listProblems(schema, path);
  yield* ruleProblems(schema, path);
}

function* childProblems(schema: JsonSchema, context: Context, root: boolean): Causes {
  const { path } = context;
  const { additionalProperties: rest, properties = {} } = schema;
  const child = (member: JsonSchema, name: string, own: Partial<Context> = {}): Causes =>
    allKeywordProblems(member, { ...context, ...own, path: `${path}.${name}` });
  if (rest !== undefined && rest !== true && Object.keys(properties).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    yield fieldForbidden(`${path}.additionalProperties`, detail);
  }
  if (typeof rest === "object") {
    // The check cannot know which parts of such a default would be pruned.
    const noDefaults = context.insideMeta
      ? "inside additionalProperties applying to object metadata"
      : context.noDefaults;
    yield* child(rest, "additionalProperties", { noDefaults });
  }
  for (const [name, property] of Object.entries(properties)) {
    const meta = RESOURCE_FIELDS.has(name) && (root || schema["x-kubernetes-embedded-resource"] === true);
    const own = meta ? { insideMeta: true, noDefaults: root ? `in top-level ${name}` : context.noDefaults } : {};
    yield* child(property, `properties[${name}]`, own);
  }
  if (schema.not !== undefined) yield* child(schema.not, "not");
  for (const keyword of ["allOf", "oneOf", "anyOf"] as const)
    for (const [at, member] of (schema[keyword] ?? []).entries()) yield* child(member, `${keyword}[${at}]`);
  if (schema.items !== undefined) yield* child(schema.items, "items");
}

function* standardProblems(schema: JsonSchema, { path, noDefaults, insideMeta }: Context): Causes {
  const { type = "" } = schema as { readonly type?: string };
  if (type !== "" && !TYPES.includes(type)) yield fieldNotSupported(`${path}.type`, type, TYPES);
  if (noDefaults !== undefined && (schema.default ?? undefined) !== undefined)
    yield fieldForbidden(`${path}.default`, `must not be set ${noDefaults}`);
  for (const keyword of unsupportedKeywords(schema))
    yield fieldForbidden(`${path}.${keyword}`, `${keyword} is not supported`);
  if (type === "null")
    yield fieldForbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative");
  if (insideMeta && schema["x-kubernetes-embedded-resource"] === true)
    yield fieldForbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta");
  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    yield fieldForbidden(`${path}.uniqueItems`, detail);
  }
}

/** Returns the keywords that prevent any check of a schema's structure. */
export function unsupportedKeywords(schema: JsonSchema): string[] {
  const members = schema as Readonly<Record<string, unknown>>;
  return Object.entries(UNSUPPORTED)
    .filter(([keyword, isThere]) => isThere(members[keyword]))
    .map(([keyword]) => keyword);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isFilled(value: unknown): boolean {
  if (value === "") return false;
  return isGiven(value) && (typeof value !== "object" || Object.keys(value as object).length > 0);
}

function* mapTypeProblems(schema: JsonSchema, path: string): Causes {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  const { type = "" } = schema as { readonly type?: string };
  const detail = "must be object if x-kubernetes-map-type is specified";
  if (type === "") yield fieldRequired(`${path}.type`, detail);
  else if (type !== "object") yield fieldInvalid(`${path}.type`, type, detail);
  if (mapType !== "atomic" && mapType !== "granular")
    yield fieldNotSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]);
}

/**
 * Returns the keywords that are set. Except for defaults, Kubernetes does not distinguish null, `false`, "" and empty lists
 * from missing keywords.
 */
export function keywordsOf(schema: JsonSchema): string[] {
  return Object.entries(schema)
    .filter(([keyword, value]) => value !== undefined && value !== null && (keyword === "default" || !isZero(value)))
    .map(([keyword]) => keyword);
}

function isZero(value: unknown): boolean {
  return value === false || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Returns an own property, never an inherited one (`constructor`). */
export function propertyOf({ properties = {} }: JsonSchema, name: string): JsonSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const NEW_LINE = /[\n\r]/;

/** Returns the faults of `x-kubernetes-validations`, except in their expressions. */
function* ruleProblems(schema: JsonSchema, path: string): Causes {
  for (const [at, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const field = `${path}.x-kubernetes-validations[${at}]`;
    yield* textProblems(rule, field);
    yield* targetProblems(rule, field, schema);
  }
}

function* textProblems({ rule, message = "", messageExpression = "" }: ValidationRule, field: string): Causes {
  const said = message.trim();
  if (rule.trim() === "") yield fieldRequired(`${field}.rule`, "rule is not specified");
  else if (message !== "" && said === "")
    yield fieldInvalid(`${field}.message`, message, "must be non-empty if specified");
  else if (NEW_LINE.test(said)) yield fieldInvalid(`${field}.message`, message, "must not contain line breaks");
  else if (NEW_LINE.test(rule.trim()) && said === "")
    yield fieldRequired(`${field}.message`, "message must be specified if rule contains line breaks");
  if (messageExpression !== "" && messageExpression.trim() === "")
    yield fieldRequired(`${field}.messageExpression`, "messageExpression must be non-empty if specified");
}

function* targetProblems({ reason, fieldPath = "" }: ValidationRule, field: string, schema: JsonSchema): Causes {
  if (reason !== undefined && !REASONS.includes(reason)) yield fieldNotSupported(`${field}.reason`, reason, REASONS);
  if (fieldPath === "") return;
  const where = `${field}.fieldPath`;
  if (fieldPath.trim() === "") yield fieldInvalid(where, fieldPath, "must be non-empty if specified");
  if (NEW_LINE.test(fieldPath)) yield fieldInvalid(where, fieldPath, "must not contain line breaks");
  if (typeof resolveFieldPath(fieldPath, schema) === "string")
    yield fieldInvalid(where, fieldPath, "must be a valid path");
}

/** Returns the faults of `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
function* listProblems(schema: JsonSchema, path: string): Causes {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== undefined) yield* listTypeProblems(schema, listType, path);
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    yield listType === undefined ? fieldRequired(field, detail) : fieldInvalid(field, listType, detail);
  }
  if (listType === "map") yield* mapProblems(schema, keys, path);
  if (listType === "map" || listType === "set") yield* nullProblems(schema, listType, path);
}

function* listTypeProblems(schema: JsonSchema, listType: string, path: string): Causes {
  const { type = "" } = schema as { readonly type?: string };
  const detail = "must be array if x-kubernetes-list-type is specified";
  if (type === "") yield fieldRequired(`${path}.type`, detail);
  else if (type !== "array") yield fieldInvalid(`${path}.type`, type, detail);
  else if (listType === "set") yield* setItemProblems(schema.items, `${path}.items`);
  if (listType !== "atomic" && listType !== "set" && listType !== "map")
    yield fieldNotSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]);
}

/** Items of sets are compared as wholes. Kubernetes prints the list type where the map type is wrong. */
function* setItemProblems(items: JsonSchema | undefined, path: string): Causes {
  if (items === undefined) return;
  const listType = items["x-kubernetes-list-type"];
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && listType !== undefined && listType !== "atomic")
    yield fieldInvalid(`${path}.x-kubernetes-list-type`, listType, detail);
  else if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    yield fieldInvalid(`${path}.x-kubernetes-map-type`, listType, detail);
}

function* mapProblems({ items }: JsonSchema, keys: readonly string[], path: string): Causes {
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) yield fieldRequired(field, "must not be empty if x-kubernetes-list-type is map");
  if (items === undefined) yield fieldRequired(`${path}.items`, "must have a schema if x-kubernetes-list-type is map");
  else if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    yield fieldInvalid(`${path}.items.type`, items.type ?? "", detail);
  } else yield* keyProblems({ items, keys }, field, `${path}.items`);
}

interface Keyed {
  readonly items: JsonSchema;
  readonly keys: readonly string[];
}

function* keyProblems({ items, keys }: Keyed, field: string, path: string): Causes {
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) yield fieldInvalid(field, keys, "entries must all be names of item properties");
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      yield fieldInvalid(`${path}.properties[${key}].type`, items.type, detail);
    }
    if (seen.has(key)) yield fieldInvalid(field, keys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Items and their keys must be present: neither may be null, and a key must be required or have a default. */
function* nullProblems(schema: JsonSchema, listType: string, path: string): Causes {
  const { items } = schema;
  if (items === undefined) return;
  if (items.nullable === true)
    yield fieldForbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  const required = new Set(items.required);
  for (const key of listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : []) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const because = "this property is in x-kubernetes-list-map-keys, so it";
    if (!required.has(key) && (property.default ?? undefined) === undefined)
      yield fieldRequired(`${field}.default`, `${because} must have a default or be a required property`);
    if (property.nullable === true) yield fieldForbidden(`${field}.nullable`, `${because} cannot be nullable`);
  }
}
