import type { ComputedColumn, PathColumn, TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { ColumnSpec, Resource, Verb } from "@virtual-workspaces/framework";

/** Columns of `kubectl get` in order, without Name. */
export type Columns = Readonly<Record<string, ColumnSpec>>;

/** One of Kubernetes' own kinds as a kcp workspace serves it. */
export interface BuiltInKind {
  /** Names, schema, protobuf and strategy; `resource.serve(resource.collection(…), { verbs })` serves it. */
  readonly resource: Resource;
  /** Supported verbs. */
  readonly verbs: readonly Verb[];
}

type Unnamed = Omit<ComputedColumn, "name"> | Omit<PathColumn, "name">;

/** Age of an object; a string in Kubernetes' printers. */
export const AGE: ColumnSpec = {
  type: "date",
  advertisedType: "string",
  jsonPath: ".metadata.creationTimestamp",
  description: "How long ago the object was created, by its metadata.creationTimestamp.",
};

/** Returns all columns after Name, for kinds that do not show an age. */
export function allColumns(columns: Readonly<Record<string, Unnamed>>): readonly TableColumn[] {
  return Object.entries(columns).map(([name, column]) => ({ ...column, name }));
}

/** Verbs of most kinds. */
export const STANDARD_VERBS: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];
