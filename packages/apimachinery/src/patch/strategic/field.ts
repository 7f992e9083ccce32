import type { JsonSchema } from "../../schema.ts";

/** What a schema says of a member, for strategic merge patches. */
export interface PatchField {
  /** Of the value. */
  readonly schema: JsonSchema | undefined;
  /** `retainKeys` apart, which is for those who write patches. */
  readonly strategy: "merge" | "replace" | undefined;
  readonly mergeKey: string | undefined;
}

const UNKNOWN: PatchField = { schema: undefined, strategy: undefined, mergeKey: undefined };

/** Of a member that the schema does not name: objects are merged, lists replaced. */
export function patchField(schema: JsonSchema | undefined, name: string): PatchField {
  const { properties = {}, additionalProperties } = schema ?? {};
  const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own === undefined)
    return typeof additionalProperties === "object" ? { ...UNKNOWN, schema: additionalProperties } : UNKNOWN;
  const strategies = (own["x-kubernetes-patch-strategy"] ?? "").split(",");
  const strategy = (["merge", "replace"] as const).find((known) => strategies.includes(known));
  return { schema: own, strategy, mergeKey: own["x-kubernetes-patch-merge-key"] };
}

/** Whether objects of this schema can be patched strategically: whether it says so anywhere. Other kinds answer 415. */
export function hasPatchStrategy(schema: JsonSchema): boolean {
  if (schema["x-kubernetes-patch-strategy"] !== undefined) return true;
  const { properties = {}, additionalProperties, items } = schema;
  const parts = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === "object") parts.push(additionalProperties);
  return parts.some(hasPatchStrategy);
}
