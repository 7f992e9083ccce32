import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { everyField, everyLabel } from "@virtual-workspaces/apimachinery/selectors";
import type { Encoded, Scope } from "@virtual-workspaces/framework/storage";
import { CLEANUP_FINALIZER, type CrdStatus, type CustomResourceDefinition } from "../definition/definition.ts";
import type { CrdCollection } from "../definition/storage.ts";

const CONTROLLER = { name: "system:crd-controller", uid: "", groups: [], extra: {} };

/** Where a controller of the server itself reads and writes. */
function scopeOf(cluster: string): Scope {
  return { params: { cluster }, cluster, namespace: "", labels: everyLabel, fields: everyField, identity: CONTROLLER };
}

/**
 * Keeps a new status of a definition, if it still stands at the version that it was read at.
 *
 * @returns it as it is kept; `undefined` when there was nothing to change, or somebody was faster, of which there is an event
 */
export async function writeStatus(
  crds: CrdCollection,
  crd: CustomResourceDefinition,
  { cluster, status }: { readonly cluster: string; readonly status: CrdStatus },
): Promise<Encoded | undefined> {
  if (equalJson(status as object, (crd.status ?? null) as object | null)) return undefined;
  return unlessOvertaken(() => crds.update(scopeOf(cluster), { ...crd, status }));
}

/** Takes the finalizer from a definition whose objects are gone; it goes, unless somebody else holds it. */
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
