import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ColumnSpec, Resource, Verb } from "@virtual-workspaces/framework";

/** A column that is worked out by a function of the object, as the framework is going to take it. */
export interface ComputedColumnSpec {
  /** What it shows, as clients are told. */
  readonly type: "string" | "integer" | "date";
  readonly description?: string;
  readonly priority?: number;
  /** The cell. */
  readonly value: (object: KubeObject) => unknown;
}

/** The columns of `kubectl get`, in their order, without Name and Age. */
export type Columns = Readonly<Record<string, ColumnSpec | ComputedColumnSpec>>;

/** One of Kubernetes' own kinds as a kcp workspace serves it. */
export interface BuiltInKind {
  /** Its names, schema, protobuf and strategy: `resource.serve(resource.collection(…), { verbs })` serves it. */
  readonly resource: Resource;
  /** What can be done with its objects. */
  readonly verbs: readonly Verb[];
  /** Its columns, those that are worked out included. */
  readonly columns: Columns;
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

/** The columns that are JSON paths: what the framework takes today. */
export function pathColumns(columns: Columns): Readonly<Record<string, ColumnSpec>> {
  const entries = Object.entries(columns).filter(([, column]) => typeof column === "string" || "jsonPath" in column);
  return Object.fromEntries(entries) as Readonly<Record<string, ColumnSpec>>;
}
