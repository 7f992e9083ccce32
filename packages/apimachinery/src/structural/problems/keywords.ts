import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { StatusCause } from "../../status.ts";
import { listProblems } from "./lists.ts";
import { ruleProblems } from "./rules.ts";

const META: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);
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
export function keywordProblems(schema: JsonSchema, path: string): StatusCause[] {
  return problems(schema, { path, root: true, noDefaults: undefined, insideMeta: false });
}

function problems(schema: JsonSchema, context: Context): StatusCause[] {
  const { path } = context;
  return [
    ...standardProblems(schema, context),
    ...childProblems(schema, { ...context, root: false }, context.root),
    ...(schema["x-kubernetes-preserve-unknown-fields"] === false
      ? [fieldInvalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined")]
      : []),
    ...mapTypeProblems(schema, path),
    ...listProblems(schema, path),
    ...ruleProblems(schema, path),
  ];
}

function childProblems(schema: JsonSchema, context: Context, root: boolean): StatusCause[] {
  const { path } = context;
  const { additionalProperties: rest, properties = {} } = schema;
  const child = (member: JsonSchema, name: string, own: Partial<Context> = {}): StatusCause[] =>
    problems(member, { ...context, ...own, path: `${path}.${name}` });
  const each = (list: readonly JsonSchema[] | undefined, keyword: string): StatusCause[] =>
    (list ?? []).flatMap((member, at) => child(member, `${keyword}[${at}]`));
  const causes: StatusCause[] = [];
  if (rest !== undefined && rest !== true && Object.keys(properties).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    causes.push(fieldForbidden(`${path}.additionalProperties`, detail));
  }
  if (typeof rest === "object") {
    // What would be pruned from such a default cannot be told.
    const noDefaults = context.insideMeta
      ? "inside additionalProperties applying to object metadata"
      : context.noDefaults;
    causes.push(...child(rest, "additionalProperties", { noDefaults }));
  }
  for (const [name, property] of Object.entries(properties)) {
    const meta = META.has(name) && (root || schema["x-kubernetes-embedded-resource"] === true);
    const own = meta ? { insideMeta: true, noDefaults: root ? `in top-level ${name}` : context.noDefaults } : {};
    causes.push(...child(property, `properties[${name}]`, own));
  }
  return [
    ...causes,
    ...(schema.not === undefined ? [] : child(schema.not, "not")),
    ...each(schema.allOf, "allOf"),
    ...each(schema.oneOf, "oneOf"),
    ...each(schema.anyOf, "anyOf"),
    ...(schema.items === undefined ? [] : child(schema.items, "items")),
  ];
}

function standardProblems(schema: JsonSchema, { path, noDefaults, insideMeta }: Context): StatusCause[] {
  const causes: StatusCause[] = [];
  const { type = "" } = schema as { readonly type?: string };
  if (type !== "" && !TYPES.includes(type)) causes.push(fieldNotSupported(`${path}.type`, type, TYPES));
  if (noDefaults !== undefined && (schema.default ?? undefined) !== undefined)
    causes.push(fieldForbidden(`${path}.default`, `must not be set ${noDefaults}`));
  for (const keyword of unsupportedKeywords(schema))
    causes.push(fieldForbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  if (type === "null")
    causes.push(fieldForbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  if (insideMeta && schema["x-kubernetes-embedded-resource"] === true)
    causes.push(fieldForbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(fieldForbidden(`${path}.uniqueItems`, detail));
  }
  return causes;
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

function mapTypeProblems(schema: JsonSchema, path: string): StatusCause[] {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return [];
  const causes: StatusCause[] = [];
  const { type = "" } = schema as { readonly type?: string };
  const detail = "must be object if x-kubernetes-map-type is specified";
  if (type === "") causes.push(fieldRequired(`${path}.type`, detail));
  else if (type !== "object") causes.push(fieldInvalid(`${path}.type`, type, detail));
  if (mapType !== "atomic" && mapType !== "granular")
    causes.push(fieldNotSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  return causes;
}
