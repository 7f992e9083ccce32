import { FieldSet } from "./field-set.ts";

/** A set of fields by the names on the way to them. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  return FieldSet.unionOf(paths.map(setOfPath));
}

function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight((below, name) => new FieldSet(false, new Map([[name, below]]), undefined), FieldSet.leaf);
}

/** What says which object it is, and what the server sets: nobody manages it, as in Kubernetes. */
export const NEVER_OWNED: FieldSet = setOfPaths([
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["metadata", name]),
]);
