import { membersOf } from "./problems.ts";

// What a schema within a CustomResourceDefinition is made of (JSONSchemaProps). It holds itself, so that no structural schema
// can say it: fields that it does not know are taken out here.

const PLAIN: ReadonlySet<string> = new Set([
  ...["id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum", "exclusiveMaximum"],
  ...["minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"],
  ...["multipleOf", "enum", "maxProperties", "minProperties", "required", "externalDocs", "example", "nullable"],
  ...["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"],
  ...["x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations"],
]);
/** A schema, or in place of one a flag. */
const SCHEMA: ReadonlySet<string> = new Set(["not", "additionalProperties", "additionalItems"]);
/** Schemas in a list; of `items`, a schema or a list of them. */
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "items"]);
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "definitions", "dependencies"]);

/** A schema without what schemas do not have, and without nulls, which are nothing in Kubernetes but for defaults. */
export function knownSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(knownSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === null && name !== "default" && name !== "example") continue;
    if (PLAIN.has(name)) known[name] = value;
    else if (SCHEMA.has(name) || LISTS.has(name)) known[name] = knownSchema(value);
    else if (MAPS.has(name))
      known[name] = Object.fromEntries(Object.entries(membersOf(value)).map(([key, one]) => [key, schemaOrTexts(one)]));
  }
  return known;
}

/** A value of `dependencies` may be a list of texts. */
const schemaOrTexts = (value: unknown): unknown =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? value : knownSchema(value);
