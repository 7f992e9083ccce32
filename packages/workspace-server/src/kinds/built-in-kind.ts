import type { ComputedColumn, PathColumn, TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { ColumnSpec, Resource, Verb } from "@virtual-workspaces/framework";

/** The columns of `kubectl get`, in their order, without Name. */
export type Columns = Readonly<Record<string, ColumnSpec>>;

/** One of Kubernetes' own kinds as a kcp workspace serves it. */
export interface BuiltInKind {
  /** Its names, schema, protobuf and strategy: `resource.serve(resource.collection(…), { verbs })` serves it. */
  readonly resource: Resource;
  /** What can be done with its objects. */
  readonly verbs: readonly Verb[];
}

type Unnamed = Omit<ComputedColumn, "name"> | Omit<PathColumn, "name">;

/** How old an object is: a text to Kubernetes' printers. */
export const AGE: ColumnSpec = {
  type: "date",
  advertisedType: "string",
  jsonPath: ".metadata.creationTimestamp",
  description: "How long ago the object was created, by its metadata.creationTimestamp.",
};

/** All the columns that there are behind Name, for kinds that show no age. */
export function allColumns(columns: Readonly<Record<string, Unnamed>>): readonly TableColumn[] {
  return Object.entries(columns).map(([name, column]) => ({ ...column, name }));
}

/** What can be done with most kinds. */
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
