import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { StatusCause } from "../../status.ts";

/** What is wrong with `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
export function listProblems(schema: JsonSchema, path: string): StatusCause[] {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const causes: StatusCause[] = [];
  if (listType !== undefined) causes.push(...listTypeProblems(schema, listType, path));
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    causes.push(listType === undefined ? fieldRequired(field, detail) : fieldInvalid(field, listType, detail));
  }
  if (listType === "map") causes.push(...mapProblems(schema, keys, path));
  if (listType === "map" || listType === "set") causes.push(...nullProblems(schema, listType, path));
  return causes;
}

function listTypeProblems(schema: JsonSchema, listType: string, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { type = "" } = schema as { readonly type?: string };
  const detail = "must be array if x-kubernetes-list-type is specified";
  if (type === "") causes.push(fieldRequired(`${path}.type`, detail));
  else if (type !== "array") causes.push(fieldInvalid(`${path}.type`, type, detail));
  else if (listType === "set") causes.push(...setItemProblems(schema.items, `${path}.items`));
  if (listType !== "atomic" && listType !== "set" && listType !== "map")
    causes.push(fieldNotSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  return causes;
}

/** Items of sets are compared as wholes. Kubernetes prints the list type where the map type is wrong. */
function setItemProblems(items: JsonSchema | undefined, path: string): StatusCause[] {
  if (items === undefined) return [];
  const listType = items["x-kubernetes-list-type"];
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && listType !== undefined && listType !== "atomic")
    return [fieldInvalid(`${path}.x-kubernetes-list-type`, listType, detail)];
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    return [fieldInvalid(`${path}.x-kubernetes-map-type`, listType, detail)];
  return [];
}

function mapProblems({ items }: JsonSchema, keys: readonly string[], path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) causes.push(fieldRequired(field, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined)
    return [...causes, fieldRequired(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...causes, fieldInvalid(`${path}.items.type`, items.type ?? "", detail)];
  }
  for (const [at, key] of keys.entries()) {
    const property = propertyOf(items, key);
    if (property === undefined) causes.push(fieldInvalid(field, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      causes.push(fieldInvalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) < at) causes.push(fieldInvalid(field, keys, "must not contain duplicate entries"));
  }
  return causes;
}

/** Items, and their keys, must be there: neither may be null, and keys are required or have a default. */
function nullProblems(schema: JsonSchema, listType: string, path: string): StatusCause[] {
  const { items } = schema;
  if (items === undefined) return [];
  const causes: StatusCause[] = [];
  if (items.nullable === true)
    causes.push(
      fieldForbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  for (const key of listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : []) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const because = "this property is in x-kubernetes-list-map-keys, so it";
    if (!(items.required ?? []).includes(key) && (property.default ?? undefined) === undefined)
      causes.push(fieldRequired(`${field}.default`, `${because} must have a default or be a required property`));
    if (property.nullable === true) causes.push(fieldForbidden(`${field}.nullable`, `${because} cannot be nullable`));
  }
  return causes;
}

function propertyOf({ properties = {} }: JsonSchema, name: string): JsonSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
