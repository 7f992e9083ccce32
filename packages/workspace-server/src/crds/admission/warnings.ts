import { isRecognizedFormat, type JsonSchema, quote } from "@virtual-workspaces/apimachinery";
import type { CrdSpec } from "../definition/definition.ts";

/** What Kubernetes warns of in schemas that it takes; of what was so before it is silent. */
export function schemaWarnings(spec: CrdSpec, before: CrdSpec | undefined): string[] {
  const known = new Set(before === undefined ? [] : findings(before));
  return findings(spec).filter((text) => !known.has(text));
}

function findings({ versions }: CrdSpec): string[] {
  const formats: string[] = [];
  const sets = new Set<string>();
  for (const { schema } of versions)
    for (const one of everySchema(schema?.openAPIV3Schema)) {
      const { format = "", type = "", items } = one;
      if (format !== "" && !isRecognizedFormat(format, type)) formats.push(`unrecognized format ${quote(format)}`);
      if (one["x-kubernetes-list-type"] === "set" && (items?.type === "object" || items?.type === "array"))
        sets.add(
          `x-kubernetes-list-type: set for items of type ${quote(items.type)} is not supported by server-side apply or CEL validation rules`,
        );
    }
  return [...formats, ...[...sets].sort()];
}

function* everySchema(schema: JsonSchema | undefined): Generator<JsonSchema, void> {
  if (schema === undefined) return;
  yield schema;
  const { items, allOf = [], anyOf = [], oneOf = [], not, properties = {}, additionalProperties: rest } = schema;
  const below = [items, ...allOf, ...anyOf, ...oneOf, not, ...Object.values(properties)];
  for (const child of below) yield* everySchema(child);
  if (typeof rest === "object") yield* everySchema(rest);
}
