import { isStatusError } from "../../api/client.ts";
import { deleteObject, readObject } from "../../api/objects.ts";
import type { KubernetesObject } from "../../api/types.ts";
import { deleteAll, type LeftObject, objectsOfMount } from "../../workspaces/mount-objects.ts";
import { WORKSPACES } from "../../workspaces/workspace.ts";
import type { Made } from "./create-all.ts";

const unlessMissing = (error: unknown): undefined => {
  if (isStatusError(error) && error.code === 404) return undefined;
  throw error;
};

/**
 * The objects of a mount that exists in part, for `createAll`: existing objects are replaced. The Workspace stays as it is. Throws a
 * StatusError.
 */
export async function replacing(workspace: string, objects: readonly Made[]): Promise<readonly Made[]> {
  const all = objects.map(async (made): Promise<Made | undefined> => {
    const { resource, namespace = "", object } = made;
    const { name } = object.metadata;
    const found = await readObject<KubernetesObject>({ workspace, resource, namespace, name }).catch(unlessMissing);
    if (found === undefined) return made;
    if (resource === WORKSPACES) return undefined;
    return { ...made, isUpdate: true };
  });
  return (await Promise.all(all)).filter((made) => made !== undefined);
}

/** Deletes the Workspace, the Mount and the Secret of a mount. Returns what is left of the latter two. Throws a StatusError. */
export async function removeMount(workspace: string, name: string): Promise<readonly LeftObject[]> {
  // Read first: if that fails, nothing has been deleted.
  const objects = await objectsOfMount(workspace, name);
  await deleteObject({ workspace, resource: WORKSPACES, namespace: "", name }).catch(unlessMissing);
  return await deleteAll(objects);
}
