import type { Causes } from "../../bounded-causes.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import { propertyOf } from "./property-of.ts";

/** What is wrong with `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
export function* listProblems(schema: JsonSchema, path: string): Causes {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== undefined) yield* listTypeProblems(schema, listType, path);
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    yield listType === undefined ? fieldRequired(field, detail) : fieldInvalid(field, listType, detail);
  }
  if (listType === "map") yield* mapProblems(schema, keys, path);
  if (listType === "map" || listType === "set") yield* nullProblems(schema, listType, path);
}

function* listTypeProblems(schema: JsonSchema, listType: string, path: string): Causes {
  const { type = "" } = schema as { readonly type?: string };
  const detail = "must be array if x-kubernetes-list-type is specified";
  if (type === "") yield fieldRequired(`${path}.type`, detail);
  else if (type !== "array") yield fieldInvalid(`${path}.type`, type, detail);
  else if (listType === "set") yield* setItemProblems(schema.items, `${path}.items`);
  if (listType !== "atomic" && listType !== "set" && listType !== "map")
    yield fieldNotSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]);
}

/** Items of sets are compared as wholes. Kubernetes prints the list type where the map type is wrong. */
function* setItemProblems(items: JsonSchema | undefined, path: string): Causes {
  if (items === undefined) return;
  const listType = items["x-kubernetes-list-type"];
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && listType !== undefined && listType !== "atomic")
    yield fieldInvalid(`${path}.x-kubernetes-list-type`, listType, detail);
  else if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    yield fieldInvalid(`${path}.x-kubernetes-map-type`, listType, detail);
}

function* mapProblems({ items }: JsonSchema, keys: readonly string[], path: string): Causes {
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) yield fieldRequired(field, "must not be empty if x-kubernetes-list-type is map");
  if (items === undefined) yield fieldRequired(`${path}.items`, "must have a schema if x-kubernetes-list-type is map");
  else if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    yield fieldInvalid(`${path}.items.type`, items.type ?? "", detail);
  } else yield* keyProblems({ items, keys }, field, `${path}.items`);
}

interface Keyed {
  readonly items: JsonSchema;
  readonly keys: readonly string[];
}

function* keyProblems({ items, keys }: Keyed, field: string, path: string): Causes {
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) yield fieldInvalid(field, keys, "entries must all be names of item properties");
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      yield fieldInvalid(`${path}.properties[${key}].type`, items.type, detail);
    }
    if (seen.has(key)) yield fieldInvalid(field, keys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Items, and their keys, must be there: neither may be null, and keys are required or have a default. */
function* nullProblems(schema: JsonSchema, listType: string, path: string): Causes {
  const { items } = schema;
  if (items === undefined) return;
  if (items.nullable === true)
    yield fieldForbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  const required = new Set(items.required);
  for (const key of listType === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : []) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const because = "this property is in x-kubernetes-list-map-keys, so it";
    if (!required.has(key) && (property.default ?? undefined) === undefined)
      yield fieldRequired(`${field}.default`, `${because} must have a default or be a required property`);
    if (property.nullable === true) yield fieldForbidden(`${field}.nullable`, `${because} cannot be nullable`);
  }
}
