import type { Causes } from "../../bounded-causes.ts";
import { fieldForbidden, fieldInvalid, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { PatternCompiler } from "../node.ts";
import { completenessProblems } from "./completeness.ts";
import { keywordsOf } from "./keywords-of.ts";
import { NestedProblems } from "./nested.ts";
import { propertyOf } from "./property-of.ts";

/** Where a schema stands: at the root, as the items of a list, or as the value of a field. */
type Level = "root" | "item" | "field";

const WHERE: Readonly<Record<Level, string>> = {
  root: "at the root",
  item: "for specified array items",
  field: "for specified object fields",
};

/** Why a schema is not structural (apiextensions' schema.ValidateStructural). */
export function* structureProblems(schema: JsonSchema, path: string, pattern: PatternCompiler): Causes {
  yield* new Structure(pattern).problems(schema, path, "root");
  yield* completenessProblems(schema, path);
}

class Structure {
  readonly #nested: NestedProblems;

  constructor(pattern: PatternCompiler) {
    this.#nested = new NestedProblems(pattern);
  }

  *problems(schema: JsonSchema, path: string, level: Level): Causes {
    const rest = schema.additionalProperties;
    if (schema.items !== undefined) yield* this.problems(schema.items, `${path}.items`, "item");
    else if (schema.type === "array") yield fieldRequired(`${path}.items`, "must be specified");
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      yield* this.problems(property, `${path}.properties[${name}]`, "field");
    if (rest !== undefined && level === "root")
      yield fieldForbidden(`${path}.additionalProperties`, "must not be used at the root");
    if (typeof rest === "object") yield* this.problems(rest, `${path}.additionalProperties`, "field");
    yield* intOrStringProblems(schema, path);
    yield* this.#nested.values(schema, path);
    yield* typeProblems(schema, path, level);
    yield* resourceProblems(schema, path, level);
  }
}

function* intOrStringProblems(schema: JsonSchema, path: string): Causes {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const keyword of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
    if (schema[keyword] === true)
      yield fieldInvalid(`${path}.${keyword}`, true, "must be false if x-kubernetes-int-or-string is true");
}

function* typeProblems(schema: JsonSchema, path: string, level: Level): Causes {
  const { type = "" } = schema;
  const field = `${path}.type`;
  const untyped =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    yield (type as string) === "" ? fieldRequired(field, detail) : fieldInvalid(field, type, detail);
  } else if ((type as string) === "" && !untyped) yield fieldRequired(field, `must not be empty ${WHERE[level]}`);
  if (level === "root" && (type as string) !== "" && type !== "object")
    yield fieldInvalid(field, type, "must be object at the root");
}

/** What holds of a resource, the root's or an embedded one: the types of its own fields, and metadata. */
function* resourceProblems(schema: JsonSchema, path: string, level: Level): Causes {
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  if (embedded && schema.additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    yield fieldForbidden(`${path}.additionalProperties`, detail);
  }
  for (const name of ["kind", "apiVersion"]) {
    const property = propertyOf(schema, name);
    if ((level === "root" || embedded) && property !== undefined && property.type !== "string")
      yield fieldInvalid(`${path}.properties[${name}].type`, property.type ?? "", "must be string");
  }
  const metadata = propertyOf(schema, "metadata");
  if (metadata !== undefined) {
    const field = `${path}.properties[metadata]`;
    if ((level === "root" || embedded) && metadata.type !== "object")
      yield fieldInvalid(`${field}.type`, metadata.type ?? "", "must be object");
    if (level === "root" && !onlyNames(metadata)) {
      const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      yield fieldForbidden(field, detail);
    }
  }
  if (
    embedded &&
    schema["x-kubernetes-preserve-unknown-fields"] !== true &&
    Object.keys(schema.properties ?? {}).length === 0
  ) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    yield fieldRequired(`${path}.properties`, detail);
  }
}

/** Whether a schema of metadata says nothing but what its name and generateName must be. */
function onlyNames(metadata: JsonSchema): boolean {
  const names = Object.keys(metadata.properties ?? {});
  const others = keywordsOf(metadata).filter((keyword) => !["type", "default", "properties"].includes(keyword));
  return others.length === 0 && names.every((name) => name === "name" || name === "generateName");
}
