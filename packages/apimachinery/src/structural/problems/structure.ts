import { type Causes, fieldForbidden, fieldInvalid, fieldRequired } from "../../meta/field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { PatternCompiler } from "../node.ts";
import { keywordsOf, propertyOf } from "./keywords.ts";

/** Position of a schema: at the root, as the items of a list, or as the value of a field. */
type Level = "root" | "item" | "field";

const WHERE: Readonly<Record<Level, string>> = {
  root: "at the root",
  item: "for specified array items",
  field: "for specified object fields",
};

/** Returns why a schema is not structural (apiextensions' schema.ValidateStructural). */
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
    yield* structureTypeProblems(schema, path, level);
    yield* resourceProblems(schema, path, level);
  }
}

function* intOrStringProblems(schema: JsonSchema, path: string): Causes {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const keyword of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
    if (schema[keyword] === true)
      yield fieldInvalid(`${path}.${keyword}`, true, "must be false if x-kubernetes-int-or-string is true");
}

function* structureTypeProblems(schema: JsonSchema, path: string, level: Level): Causes {
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

/** Checks a resource, at the root or embedded: the types of its own fields, and metadata. */
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

/** Whether a schema of metadata constrains only its name and generateName. */
function onlyNames(metadata: JsonSchema): boolean {
  const names = Object.keys(metadata.properties ?? {});
  const others = keywordsOf(metadata).filter((keyword) => !["type", "default", "properties"].includes(keyword));
  return others.length === 0 && names.every((name) => name === "name" || name === "generateName");
}

/** Schema that gives a value its structure, if there is one, with its path. */
interface Structural {
  readonly schema: JsonSchema | undefined;
  readonly path: string;
}

/** Returns fields that the root's `allOf`, `anyOf`, `oneOf` or `not` constrain and that the root does not declare. */
function completenessProblems(schema: JsonSchema, path: string): Causes {
  return insideProblems(schema, path, { schema, path });
}

function* insideProblems(values: JsonSchema, path: string, structural: Structural): Causes {
  if (values.not !== undefined) yield* nestedProblems(values.not, `${path}.not`, structural);
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const)
    for (const [at, item] of (values[keyword] ?? []).entries())
      yield* nestedProblems(item, `${path}.${keyword}[${at}]`, structural);
}

function* nestedProblems(values: JsonSchema, path: string, structural: Structural): Causes {
  const { schema } = structural;
  if (schema === undefined) {
    yield fieldRequired(structural.path, `because it is defined in ${path}`);
    return;
  }
  const below = (name: string): Structural & { readonly values: string } => ({
    schema: undefined,
    path: `${structural.path}.${name}`,
    values: `${path}.${name}`,
  });
  yield* insideProblems(values, path, structural);
  if (values.items !== undefined) {
    const items = below("items");
    yield* nestedProblems(values.items, items.values, { ...items, schema: schema.items });
  }
  for (const [name, property] of Object.entries(values.properties ?? {})) {
    const member = below(`properties[${name}]`);
    yield* nestedProblems(property, member.values, { ...member, schema: propertyOf(schema, name) });
  }
}

/** Keywords that give a value its structure. Schemas in `allOf`, `anyOf`, `oneOf` and `not` cannot have them. */
const STRUCTURAL: Readonly<Record<string, string>> = {
  type: "must be empty to be structural",
  additionalProperties: "must be undefined to be structural",
  default: "must be undefined to be structural",
  title: "must be empty to be structural",
  description: "must be empty to be structural",
  nullable: "must be false to be structural",
  "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
  "x-kubernetes-embedded-resource": "must be false to be structural",
  "x-kubernetes-int-or-string": "must be false to be structural",
  "x-kubernetes-list-map-keys": "must be empty to be structural",
  "x-kubernetes-list-type": "must be undefined to be structural",
  "x-kubernetes-map-type": "must be undefined to be structural",
  "x-kubernetes-validations": "must be empty to be structural",
};

/** Faults in the parts of a schema that only validate. */
class NestedProblems {
  readonly #pattern: PatternCompiler;

  constructor(pattern: PatternCompiler) {
    this.#pattern = pattern;
  }

  /** Checks a schema at any position. */
  values(schema: JsonSchema, path: string): Causes {
    const [first] = schema.allOf ?? [];
    return this.#values(schema, path, {
      anyOf: isIntOrString(schema.anyOf),
      firstAllOf: first !== undefined && isIntOrString(first.anyOf),
    });
  }

  *#values(schema: JsonSchema, path: string, typed: Typed): Causes {
    for (const keyword of ["anyOf", "allOf", "oneOf"] as const) {
      if (keyword === "anyOf" && typed.anyOf) continue;
      for (const [at, item] of (schema[keyword] ?? []).entries())
        yield* this.#nested(item, `${path}.${keyword}[${at}]`, keyword === "allOf" && at === 0 && typed.firstAllOf);
    }
    if (schema.not !== undefined) yield* this.#nested(schema.not, `${path}.not`, false);
    yield* this.#patternProblems(schema.pattern ?? "", `${path}.pattern`);
  }

  /** Checks a schema in one of the four keywords; `typed` means that its `anyOf` lists the types of an int-or-string. */
  *#nested(schema: JsonSchema, path: string, typed: boolean): Causes {
    yield* this.#values(schema, path, { anyOf: typed, firstAllOf: false });
    if (schema.items !== undefined) yield* this.#nested(schema.items, `${path}.items`, false);
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      yield* this.#nested(property, `${path}.properties[${name}]`, false);
    for (const keyword of keywordsOf(schema))
      if (Object.hasOwn(STRUCTURAL, keyword)) yield fieldForbidden(`${path}.${keyword}`, STRUCTURAL[keyword] ?? "");
    if (propertyOf(schema, "metadata") !== undefined)
      yield fieldForbidden(`${path}.properties[metadata]`, "must not be specified in a nested context");
  }

  *#patternProblems(source: string, path: string): Causes {
    if (source === "") return;
    try {
      this.#pattern(source);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      yield fieldInvalid(path, source, `must be a valid regular expression, but isn't: ${why}`);
    }
  }
}

/** Positions that may still name types: those of an int-or-string. */
interface Typed {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}

/** Whether a list is exactly `[{ type: integer }, { type: string }]`. */
function isIntOrString(anyOf: readonly JsonSchema[] | undefined): boolean {
  const types = (anyOf ?? []).map((schema) => (keywordsOf(schema).join() === "type" ? schema.type : undefined));
  return types.join() === "integer,string";
}
