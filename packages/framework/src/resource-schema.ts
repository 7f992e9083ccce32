import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { ResourceOptions } from "./resource.ts";

/** The schema of the whole object (without type and metadata) from what the author gave. */
export function objectSchema(options: ResourceOptions<JsonSchema, JsonSchema, JsonSchema>): JsonSchema {
  const { kind, spec, status, schema, description } = options;
  if (schema !== undefined && (spec !== undefined || status !== undefined)) {
    throw new Error(`${kind}: give either schema, or spec and status, not both`);
  }
  const described = description === undefined ? {} : { description };
  if (schema !== undefined) return { ...schema, ...described };
  return {
    type: "object",
    ...described,
    ...(spec === undefined ? {} : { required: ["spec"] }),
    properties: { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) },
  };
}
