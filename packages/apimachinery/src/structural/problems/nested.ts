import type { Causes } from "../../bounded-causes.ts";
import { fieldForbidden, fieldInvalid } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { PatternCompiler } from "../node.ts";
import { keywordsOf } from "./keywords-of.ts";
import { propertyOf } from "./property-of.ts";

/** Keywords that give a value its structure, which schemas in `allOf`, `anyOf`, `oneOf` and `not` may not. */
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

/** What is wrong with the part of a schema that only validates. */
export class NestedProblems {
  readonly #pattern: PatternCompiler;

  constructor(pattern: PatternCompiler) {
    this.#pattern = pattern;
  }

  /** Of a schema that may be anywhere. */
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

  /** Of a schema in one of the four; `typed` says that its `anyOf` is the types of an int-or-string. */
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

/** Where types may be named all the same: they are those of an int-or-string. */
interface Typed {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}

/** `[{ type: integer }, { type: string }]`, and nothing else. */
function isIntOrString(anyOf: readonly JsonSchema[] | undefined): boolean {
  const types = (anyOf ?? []).map((schema) => (keywordsOf(schema).join() === "type" ? schema.type : undefined));
  return types.join() === "integer,string";
}
