import type { GroupVersionKind, JsonSchema } from "@virtual-workspaces/apimachinery";

/**
 * Structural schema before conversion to OpenAPI v2 or v3. `$ref` is the bare name of a component and may have a description
 * beside it. Vendor extensions that are not named here are kept.
 */
export interface Schema extends Omit<JsonSchema, SubSchemas> {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
  readonly "x-kubernetes-selectable-fields"?: readonly { readonly fieldPath: string }[];
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
}

type SubSchemas = "properties" | "additionalProperties" | "items" | "allOf" | "anyOf" | "oneOf" | "not";

/** Schemas by component name. */
export type Components = Readonly<Record<string, Schema>>;

/**
 * Returns a copy with `change` applied to every schema in it, outermost first. Descent continues into the result of `change`,
 * so it receives each node unmodified and decides which children remain.
 */
export function mapSchema(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const node = change(schema);
  const { properties, additionalProperties, items, allOf, anyOf, oneOf, not } = node;
  const each = (one: Schema): Schema => mapSchema(one, change);
  return {
    ...node,
    ...(properties && { properties: mapValues(properties, each) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: each(additionalProperties) }),
    ...(items && { items: each(items) }),
    ...(allOf && { allOf: allOf.map(each) }),
    ...(anyOf && { anyOf: anyOf.map(each) }),
    ...(oneOf && { oneOf: oneOf.map(each) }),
    ...(not && { not: each(not) }),
  };
}

/** Returns the object with `change` applied to each value. */
export function mapValues<From, To>(
  object: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** Returns the `components` that `roots` refer to, directly or indirectly, sorted by name. */
export function reachable(components: Components, roots: Iterable<string>): Components {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const schema = components[name];
    if (schema === undefined) throw new Error(`OpenAPI: no component ${name}`);
    if (found.has(name)) return;
    found.add(name);
    mapSchema(schema, (node) => {
      if (node.$ref !== undefined) visit(node.$ref);
      return node;
    });
  };
  for (const root of roots) visit(root);
  return Object.fromEntries([...found].sort().map((name) => [name, components[name] as Schema]));
}
