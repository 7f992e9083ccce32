import type { ColumnSpec, Resource, Verb } from "@virtual-workspaces/framework";

/** The columns of `kubectl get`, in their order, without Name and Age. */
export type Columns = Readonly<Record<string, ColumnSpec>>;

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
