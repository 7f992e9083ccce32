import type { GroupResource, JsonSchema, TableColumn } from "@virtual-workspaces/apimachinery";
import type { SelectableField } from "./encoded.ts";

/** A kind as it is served: names, schema, columns. Immutable; `hash` is equal exactly when all of it is. */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Of the whole object, without `apiVersion`, `kind` and `metadata`, which every object has. */
  readonly schema: JsonSchema;
  readonly columns: readonly TableColumn[];
  readonly selectableFields: readonly SelectableField[];
  readonly hash: string;
}

/** A kind that carries the type of its objects. */
export interface TypedDefinition<T extends object> extends ResourceDefinition {
  /** Never set. */
  readonly type?: (object: T) => T;
}

/** `quotes.example.dev`, the name Kubernetes gives a kind in messages. */
export function groupResourceOf(definition: ResourceDefinition): GroupResource {
  return { group: definition.group, resource: definition.plural };
}
