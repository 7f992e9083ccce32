import { isStatusError, request } from "../../api/client.ts";
import { collectionPath, deleteObject, readObject } from "../../api/objects.ts";
import type { KubernetesObject } from "../../api/types.ts";
import {
  deleteAll,
  type LeftObject,
  type MountObject,
  objectsOfMount,
  secretsOf,
} from "../../workspaces/mount-objects.ts";
import { WORKSPACES } from "../../workspaces/workspace.ts";
import { MOUNTS } from "../kinds.ts";
import type { Made } from "./create-all.ts";

/** Type and path of a Mount. The server adds the default type. */
const placeOf = (mount: object): string => {
  const { spec } = mount as { readonly spec?: { readonly type?: string; readonly path?: string } };
  const { type = "URL", path } = spec ?? {};
  return JSON.stringify([type, path]);
};

const unlessMissing = (error: unknown): undefined => {
  if (isStatusError(error) && error.code === 404) return undefined;
  throw error;
};

/**
 * The objects of a mount that exists in part, for `createAll`: existing objects are replaced. A Mount of another type or path is deleted and created
 * again, since type and path are immutable. The Workspace stays as it is. Throws a StatusError.
 */
export async function replacing(workspace: string, objects: readonly Made[]): Promise<readonly Made[]> {
  const all = objects.map(async (made): Promise<Made | undefined> => {
    const { resource, namespace = "", object } = made;
    const { name } = object.metadata;
    const found = await readObject<KubernetesObject>({ workspace, resource, namespace, name }).catch(unlessMissing);
    if (found === undefined) return made;
    if (resource === WORKSPACES) return undefined;
    if (resource === MOUNTS && placeOf(found) !== placeOf(object))
      return { ...made, instead: found.metadata.uid ?? "" };
    return { ...made, isUpdate: true };
  });
  return (await Promise.all(all)).filter((made) => made !== undefined);
}

/**
 * The Secret of a Mount that exists, if its new target does not need it: the one with the name of the Mount, which the dialog has made. It
 * stays while another Mount names it. Throws a StatusError.
 */
export async function unneeded(workspace: string, objects: readonly Made[]): Promise<readonly MountObject[]> {
  const name = objects.find(({ resource }) => resource === MOUNTS)?.object.metadata.name ?? "";
  const isOwn = ({ at }: MountObject): boolean => at.namespace === "default" && at.name === name;
  const [secret] = (await objectsOfMount(workspace, name)).filter((one) => one.kind === "Secret" && isOwn(one));
  if (secret === undefined || objects.some(({ object }) => object.kind === "Secret")) return [];
  const path = collectionPath({ workspace, resource: MOUNTS, namespace: "" });
  const { items } = await request<{ readonly items: readonly KubernetesObject[] }>(path);
  const others = items.filter(({ metadata }) => metadata.name !== name);
  return others.some((mount) => secretsOf(workspace, mount).some(isOwn)) ? [] : [secret];
}

/** Deletes the Workspace, the Mount and the Secret of a mount. Returns what is left of the latter two. Throws a StatusError. */
export async function removeMount(workspace: string, name: string): Promise<readonly LeftObject[]> {
  // Read first: if that fails, nothing has been deleted.
  const objects = await objectsOfMount(workspace, name);
  await deleteObject({ workspace, resource: WORKSPACES, namespace: "", name }).catch(unlessMissing);
  return await deleteAll(objects);
}
