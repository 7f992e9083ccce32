import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { everyField, everyLabel } from "@virtual-workspaces/apimachinery/selectors";
import type { Encoded, Scope } from "@virtual-workspaces/framework/storage";
import { CLEANUP_FINALIZER, type CrdStatus, type CustomResourceDefinition } from "../definition/definition.ts";
import type { CrdCollection } from "../definition/storage.ts";

const CONTROLLER = { name: "system:crd-controller", uid: "", groups: [], extra: {} };

/** Returns the scope for the server's own reads and writes. */
function scopeOf(cluster: string): Scope {
  return { params: { cluster }, cluster, namespace: "", labels: everyLabel, fields: everyField, identity: CONTROLLER };
}

/**
 * Writes the status of a definition unless the definition has changed since it was read.
 *
 * @returns the stored object; `undefined` if nothing changed, or a concurrent write won, which causes an event
 */
export async function writeStatus(
  crds: CrdCollection,
  crd: CustomResourceDefinition,
  { cluster, status }: { readonly cluster: string; readonly status: CrdStatus },
): Promise<Encoded | undefined> {
  if (equalJson(status as object, (crd.status ?? null) as object | null)) return undefined;
  return unlessOvertaken(() => crds.update(scopeOf(cluster), { ...crd, status }));
}

/** Removes the finalizer of a definition whose objects are gone; it is then deleted unless other finalizers remain. */
export async function release(
  crds: CrdCollection,
  crd: CustomResourceDefinition,
  { cluster, status }: { readonly cluster: string; readonly status: CrdStatus },
): Promise<void> {
  const { name = "", resourceVersion = "" } = crd.metadata;
  const finalizers = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  const key: ObjectKey = { cluster, namespace: "", name };
  const scope = scopeOf(cluster);
  await unlessOvertaken(() =>
    finalizers.length === 0
      ? crds.delete(scope, key, { preconditions: { resourceVersion } })
      : crds.update(scope, { ...crd, metadata: { ...crd.metadata, finalizers }, status }),
  );
}

async function unlessOvertaken(write: () => Promise<Encoded>): Promise<Encoded | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isApiError(error) && (error.code === 409 || error.code === 404)) return undefined;
    throw error;
  }
}
