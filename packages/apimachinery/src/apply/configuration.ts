import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { JsonSchema } from "../schema.ts";
import { merge } from "./merge.ts";
import { typeProblem } from "./type-check.ts";
import { formOf, objectType, type ValueType } from "./value-type.ts";

const types = new WeakMap<JsonSchema, ValueType>();

/** Parts of {@link mergeConfiguration}. */
export interface ConfigurationMerge {
  readonly live: JsonObject;
  /** Fields to set, of the same API version and kind. */
  readonly config: JsonObject;
  /** Schema of the kind. @default the types of fields are deduced from their values */
  readonly schema: JsonSchema | undefined;
}

/**
 * Merges an apply configuration into an object by the schema, without field managers: no field has an owner, and none is
 * removed (Kubernetes' ApplyStructuredMergeDiff).
 *
 * @throws Error with Kubernetes' text for fields that do not fit the schema, or that can only be replaced as a whole
 */
export function mergeConfiguration({ live, config, schema }: ConfigurationMerge): JsonObject {
  const known = schema && types.get(schema);
  const type = known ?? objectType(schema);
  if (schema !== undefined) types.set(schema, type);
  const problem = typeProblem(config, type, { allowDuplicates: false });
  if (problem !== undefined) throw new Error(`failed to convert patch object to typed object: ${problem}`);
  const atomic = atomicPaths(config, type, "");
  if (atomic.length > 0)
    throw new Error(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`);
  const wrong = typeProblem(live, type, { allowDuplicates: true });
  if (wrong !== undefined) throw new Error(`failed to convert original object to typed object: ${wrong}`);
  return merge(live, config, type) as JsonObject;
}

/** Returns the paths of the values that a merge would replace as a whole. */
function atomicPaths(value: unknown, type: ValueType, path: string): string[] {
  if (value === null || value === undefined) return [];
  const form = formOf(type, value);
  if (form === "map" && type.map !== undefined && isJsonObject(value)) {
    const { atomic, fields } = type.map;
    const below = Object.entries(value).flatMap(([name, member]) => {
      const declared = fields?.get(name);
      return declared === undefined ? [] : atomicPaths(member, declared, `${path}.${name}`);
    });
    return atomic ? [path, ...below] : below;
  }
  if (form === "list" && type.list !== undefined && Array.isArray(value)) {
    const { atomic, element } = type.list;
    const below = value.flatMap((item, at) => atomicPaths(item, element, `${path}[${at}]`));
    return atomic ? [path, ...below] : below;
  }
  return [];
}
