import { mapSchema, type Schema } from "./schema.ts";

/**
 * A schema in the words of OpenAPI v2, with what v2 does not have left out as Kubernetes does it
 * (apiextensions' ToStructuralOpenAPIV2): clients that validate by it must never refuse what the server takes, so
 * where v2 would be too narrow the type goes too.
 */
export function v2Schema(schema: Schema): Schema {
  return mapSchema(schema, (node) => reference(widened(withoutJunctors(node))));
}

/**
 * The component of a whole kind. One that takes unknown fields has no properties at all, since kubectl reads those
 * as all there may be.
 */
export function v2Kind(schema: Schema): Schema {
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true) return v2Schema(schema);
  const { description, "x-kubernetes-group-version-kind": kinds } = schema;
  return {
    type: "object",
    ...(description && { description }),
    ...(kinds && { "x-kubernetes-group-version-kind": kinds }),
  };
}

function reference(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : { ...schema, $ref: `#/definitions/${schema.$ref}` };
}

function withoutJunctors({ allOf, anyOf, oneOf, not, ...rest }: Schema): Schema {
  return rest;
}

function widened(schema: Schema): Schema {
  const { nullable, ...node } = withOptionalNullables(schema);
  const open = node["x-kubernetes-preserve-unknown-fields"] === true;
  if (nullable === true || open) {
    const { type, items, properties, required, ...rest } = node;
    const keepsType = open && nullable !== true && type !== "object" && type !== "array";
    return { ...rest, ...(keepsType && type !== undefined && { type }) };
  }
  if (node.type === "array" && node.items === undefined) {
    const { type, ...rest } = node;
    return rest;
  }
  return node;
}

/** A required field that may be null is not required in v2, where null is as good as missing. */
function withOptionalNullables(schema: Schema): Schema {
  const { required, properties = {}, additionalProperties } = schema;
  if (required === undefined) return schema;
  const values = typeof additionalProperties === "object" && additionalProperties.nullable === true;
  const kept = values ? [] : required.filter((name) => properties[name]?.nullable !== true);
  if (kept.length > 0) return { ...schema, required: kept };
  const { required: none, ...rest } = schema;
  return rest;
}
