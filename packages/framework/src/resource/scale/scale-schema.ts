import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { ScaleField } from "./scale-field.ts";

/**
 * Makes sure that a kind has the field by which it is scaled: one that is misspelt would be dropped from every object.
 *
 * @throws Error when the schema has no such integer
 */
export function checkScaled(schema: JsonSchema, { path, names }: ScaleField): void {
  let at: JsonSchema | undefined = schema;
  for (const name of names) {
    const open: boolean = at["x-kubernetes-preserve-unknown-fields"] === true;
    const { properties = {}, additionalProperties }: JsonSchema = at;
    const every: JsonSchema | undefined = typeof additionalProperties === "object" ? additionalProperties : undefined;
    at = Object.hasOwn(properties, name) ? properties[name] : every;
    if (at === undefined && (open || additionalProperties === true)) return;
    if (at === undefined) break;
  }
  if (at?.type === "integer" || at?.type === "number") return;
  throw new Error(`subresources.scale.specReplicasPath ${JSON.stringify(path)} must lead to an integer of the schema`);
}
