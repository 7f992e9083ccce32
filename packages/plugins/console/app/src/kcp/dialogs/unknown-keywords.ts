import { isFields } from "../../object/yaml/object-text.ts";
import type { Snapshot } from "./snapshot.ts";

export interface UnknownKeyword {
  readonly keyword: string;
  /** Field with this schema, such as `spec.meals[].size`; "" for the object itself. */
  readonly field: string;
}

/** Keywords of schemas in CustomResourceDefinitions, besides those that begin with `x-kubernetes-`. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "$ref $schema additionalItems additionalProperties allOf anyOf default definitions dependencies description enum example " +
    "exclusiveMaximum exclusiveMinimum externalDocs format id items maxItems maxLength maxProperties maximum minItems minLength " +
    "minProperties minimum multipleOf not nullable oneOf pattern patternProperties properties required title type uniqueItems"
  ).split(" "),
);
/** Keywords whose values are schemas of the same field, of its values, and by name. */
const SAME = ["allOf", "anyOf", "oneOf", "not"] as const;
const VALUES = ["items", "additionalProperties"] as const;

/** Keywords of schemas that no server knows: an APIResourceSchema is stored with them, and they have no effect. Each field once. */
export function unknownKeywords(snapshots: readonly Snapshot[]): readonly UnknownKeyword[] {
  const found = new Map<string, UnknownKeyword>();
  for (const { spec } of snapshots)
    for (const version of Array.isArray(spec["versions"]) ? spec["versions"] : [])
      if (isFields(version)) collect(version["schema"], "", found);
  return [...found.values()];
}

function collect(schema: unknown, field: string, found: Map<string, UnknownKeyword>): void {
  if (Array.isArray(schema)) for (const one of schema) collect(one, field, found);
  if (!isFields(schema)) return;
  for (const keyword of Object.keys(schema))
    if (!KEYWORDS.has(keyword) && !keyword.startsWith("x-kubernetes-"))
      found.set(`${field} ${keyword}`, { keyword, field });
  for (const keyword of SAME) collect(schema[keyword], field, found);
  for (const keyword of VALUES) collect(schema[keyword], `${field}[]`, found);
  const { properties } = schema;
  if (!isFields(properties)) return;
  for (const [name, one] of Object.entries(properties)) collect(one, field === "" ? name : `${field}.${name}`, found);
}
