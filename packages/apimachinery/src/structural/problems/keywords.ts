import type { Causes } from "../../bounded-causes.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import { RESOURCE_FIELDS } from "../resource-fields.ts";
import { listProblems } from "./lists.ts";
import { ruleProblems } from "./rules.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/** Keywords of OpenAPI that a CustomResourceDefinition may not have, and when they are there. */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: isFilled,
  additionalItems: isGiven,
  patternProperties: isFilled,
  definitions: isFilled,
  dependencies: isGiven,
  $ref: isGiven,
};

/** What a schema inherits from those around it. */
interface Context {
  readonly path: string;
  readonly root: boolean;
  /** Why there may be no default; undefined if there may be. */
  readonly noDefaults: string | undefined;
  readonly insideMeta: boolean;
}

/** What is wrong with the keywords of a schema (apiextensions' ValidateCustomResourceDefinitionOpenAPISchema), CEL aside. */
export function keywordProblems(schema: JsonSchema, path: string): Causes {
  return problems(schema, { path, root: true, noDefaults: undefined, insideMeta: false });
}

function* problems(schema: JsonSchema, context: Context): Causes {
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
    problems(member, { ...context, ...own, path: `${path}.${name}` });
  if (rest !== undefined && rest !== true && Object.keys(properties).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    yield fieldForbidden(`${path}.additionalProperties`, detail);
  }
  if (typeof rest === "object") {
    // What would be pruned from such a default cannot be told.
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

/** Keywords because of which nothing can be said about a schema's structure. */
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
