import type { KindReference, KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";

/** Which owners count. */
export interface OwnerKeysOptions {
  /** Only the one that says `controller: true`. @default false, all of the kind */
  readonly controller?: boolean;
}

/**
 * For a source of related objects: the keys of those that own an object, as its `ownerReferences` have them, in its
 * cluster and, for a namespaced kind, its namespace. controller-runtime's `EnqueueRequestForOwner`. The version of a
 * reference does not matter.
 */
export function ownerKeys(
  owner: Pick<KindReference, "group" | "kind" | "scope">,
  { controller = false }: OwnerKeysOptions = {},
): (object: KubeObject, key: ObjectKey) => ObjectKey[] {
  return (object, { cluster, namespace }) => {
    const references = object.metadata.ownerReferences ?? [];
    return references
      .filter(({ apiVersion, kind }) => kind === owner.kind && groupOf(apiVersion) === owner.group)
      .filter((reference) => !controller || reference.controller === true)
      .map(({ name }) => ({ cluster, namespace: owner.scope === "Namespaced" ? namespace : "", name }));
  };
}

function groupOf(apiVersion: string): string {
  const at = apiVersion.indexOf("/");
  return at === -1 ? "" : apiVersion.slice(0, at);
}
