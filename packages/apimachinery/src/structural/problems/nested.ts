import { fieldForbidden, fieldInvalid } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { StatusCause } from "../../status.ts";
import type { PatternCompiler } from "../node.ts";
import { keywordsOf } from "./keywords-of.ts";

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
  values(schema: JsonSchema, path: string): StatusCause[] {
    const [first] = schema.allOf ?? [];
    return this.#values(schema, path, {
      anyOf: isIntOrString(schema.anyOf),
      firstAllOf: first !== undefined && isIntOrString(first.anyOf),
    });
  }

  #values(schema: JsonSchema, path: string, typed: Typed): StatusCause[] {
    const nested = (list: readonly JsonSchema[] | undefined, keyword: string): StatusCause[] =>
      (list ?? []).flatMap((item, at) =>
        this.#nested(item, `${path}.${keyword}[${at}]`, keyword === "allOf" && at === 0 && typed.firstAllOf),
      );
    return [
      ...(typed.anyOf ? [] : nested(schema.anyOf, "anyOf")),
      ...nested(schema.allOf, "allOf"),
      ...nested(schema.oneOf, "oneOf"),
      ...(schema.not === undefined ? [] : this.#nested(schema.not, `${path}.not`, false)),
      ...this.#patternProblems(schema.pattern ?? "", `${path}.pattern`),
    ];
  }

  /** Of a schema in one of the four; `typed` says that its `anyOf` is the types of an int-or-string. */
  #nested(schema: JsonSchema, path: string, typed: boolean): StatusCause[] {
    const properties = Object.entries(schema.properties ?? {});
    const forbidden = keywordsOf(schema)
      .filter((keyword) => Object.hasOwn(STRUCTURAL, keyword))
      .map((keyword) => fieldForbidden(`${path}.${keyword}`, STRUCTURAL[keyword] ?? ""));
    const metadata = properties.some(([name]) => name === "metadata")
      ? [fieldForbidden(`${path}.properties[metadata]`, "must not be specified in a nested context")]
      : [];
    return [
      ...this.#values(schema, path, { anyOf: typed, firstAllOf: false }),
      ...(schema.items === undefined ? [] : this.#nested(schema.items, `${path}.items`, false)),
      ...properties.flatMap(([name, property]) => this.#nested(property, `${path}.properties[${name}]`, false)),
      ...forbidden,
      ...metadata,
    ];
  }

  #patternProblems(source: string, path: string): StatusCause[] {
    if (source === "") return [];
    try {
      this.#pattern(source);
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [fieldInvalid(path, source, `must be a valid regular expression, but isn't: ${why}`)];
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
