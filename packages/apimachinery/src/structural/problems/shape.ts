import { isJsonObject } from "../../json/value.ts";
import type { Causes } from "../../meta/field-cause.ts";
import { fieldForbidden, fieldInvalid } from "../../meta/field-cause.ts";

/** Maximum nesting of schemas: code that walks them is recursive. */
const MOST_LEVELS = 500;

type KeywordShape =
  | "text"
  | "flag"
  | "number"
  | "count"
  | "list"
  | "texts"
  | "rules"
  | "schema"
  | "schemas"
  | "members"
  | "rest";

const SHAPES: Readonly<Record<string, KeywordShape>> = {
  type: "text",
  title: "text",
  description: "text",
  format: "text",
  pattern: "text",
  nullable: "flag",
  enum: "list",
  properties: "members",
  required: "texts",
  additionalProperties: "rest",
  minProperties: "count",
  maxProperties: "count",
  items: "schema",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  minLength: "count",
  maxLength: "count",
  minimum: "number",
  exclusiveMinimum: "flag",
  maximum: "number",
  exclusiveMaximum: "flag",
  multipleOf: "number",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  "x-kubernetes-preserve-unknown-fields": "flag",
  "x-kubernetes-embedded-resource": "flag",
  "x-kubernetes-int-or-string": "flag",
  "x-kubernetes-list-type": "text",
  "x-kubernetes-list-map-keys": "texts",
  "x-kubernetes-map-type": "text",
  "x-kubernetes-validations": "rules",
};

/** Returns keywords whose type is not the one of JSONSchemaProps. With any of them, no other check is possible. */
export function* shapeProblems(schema: unknown, path: string, level = 0): Causes {
  if (!isJsonObject(schema)) yield fieldInvalid(path, schema, "must be a schema");
  else if (level > MOST_LEVELS) yield fieldForbidden(path, `must not be nested deeper than ${MOST_LEVELS} levels`);
  else
    for (const keyword of Object.keys(schema)) {
      const shape = Object.hasOwn(SHAPES, keyword) ? SHAPES[keyword] : undefined;
      const value = schema[keyword];
      if (shape !== undefined && value !== undefined)
        yield* valueProblems(shape, value, { path: `${path}.${keyword}`, level });
    }
}

interface Nested {
  readonly path: string;
  readonly level: number;
}

function* valueProblems(shape: KeywordShape, value: unknown, { path, level }: Nested): Causes {
  switch (shape) {
    case "schema":
      yield* shapeProblems(value, path, level + 1);
      break;
    case "rest":
      if (typeof value !== "boolean") yield* shapeProblems(value, path, level + 1);
      break;
    case "schemas":
      if (!Array.isArray(value)) yield fieldInvalid(path, value, "must be a list of schemas");
      else for (const [at, item] of value.entries()) yield* shapeProblems(item, `${path}[${at}]`, level + 1);
      break;
    case "members":
      if (!isJsonObject(value)) yield fieldInvalid(path, value, "must be a map of schemas");
      else for (const name of Object.keys(value)) yield* shapeProblems(value[name], `${path}[${name}]`, level + 1);
      break;
    default: {
      const [is, words] = SCALARS[shape];
      if (!is(value)) yield fieldInvalid(path, value, `must be ${words}`);
    }
  }
}

type Scalar = Exclude<KeywordShape, "schema" | "rest" | "schemas" | "members">;

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const SCALARS: Readonly<Record<Scalar, readonly [is: (value: unknown) => boolean, words: string]>> = {
  text: [isText, "a string"],
  flag: [(value) => typeof value === "boolean", "a boolean"],
  number: [(value) => typeof value === "number" || typeof value === "bigint", "a number"],
  count: [(value) => Number.isSafeInteger(value), "an integer"],
  list: [Array.isArray, "a list"],
  texts: [isTexts, "a list of strings"],
  rules: [isRules, "a list of rules, each with the text of its expression"],
};

function isRules(value: unknown): boolean {
  return Array.isArray(value) && value.every((rule) => isJsonObject(rule) && isRule(rule));
}

function isRule(rule: Readonly<Record<string, unknown>>): boolean {
  const texts = ["message", "messageExpression", "reason", "fieldPath"];
  const optional = rule["optionalOldSelf"];
  if (optional !== undefined && typeof optional !== "boolean") return false;
  return isText(rule["rule"]) && texts.every((name) => rule[name] === undefined || isText(rule[name]));
}
