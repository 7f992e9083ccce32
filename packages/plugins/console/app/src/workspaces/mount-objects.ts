import { asStatusError, isStatusError, type StatusError } from "../api/client.ts";
import { deleteObject, type ObjectAddress, readObject } from "../api/objects.ts";
import type { KubernetesObject } from "../api/types.ts";

/** An object of a mount, to be deleted with it. */
export interface MountObject {
  readonly at: ObjectAddress;
  readonly kind: "Mount" | "Secret";
  readonly uid?: string;
}

/** An object that could not be deleted. */
export interface LeftObject extends MountObject {
  readonly error: StatusError;
}

interface SecretReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface Mount extends KubernetesObject {
  readonly spec?: { readonly ref?: SecretReference; readonly secretRef?: SecretReference };
}

const MOUNTS = { group: "proxy.kcp.io", version: "v1alpha1", resource: "mounts" } as const;
const SECRETS = { group: "", version: "v1", resource: "secrets" } as const;

/** Returns a Mount and the Secrets that it names; none if there is no such Mount. Throws a StatusError. */
export async function objectsOfMount(workspace: string, name: string): Promise<readonly MountObject[]> {
  const at = { workspace, resource: MOUNTS, namespace: "", name };
  const mount = await readObject<Mount>(at).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (mount === undefined) return [];
  const { uid } = mount.metadata;
  return [{ kind: "Mount", at, ...(uid !== undefined && { uid }) }, ...secretsOf(workspace, mount)];
}

/** Returns the Secrets that a Mount names. */
export function secretsOf(workspace: string, { spec }: Mount): readonly MountObject[] {
  const named = [spec?.ref?.kind === "Secret" ? spec.ref : undefined, spec?.secretRef];
  const keys = named.flatMap((one) => (one?.name ? [`${one.namespace ?? "default"}/${one.name}`] : []));
  return [...new Set(keys)].map((key): MountObject => {
    const [namespace = "", secret = ""] = key.split("/", 2);
    return { kind: "Secret", at: { workspace, resource: SECRETS, namespace, name: secret } };
  });
}

/** Deletes objects, each whatever becomes of the others. Returns those that are left. */
export async function deleteAll(objects: readonly MountObject[]): Promise<readonly LeftObject[]> {
  const left: LeftObject[] = [];
  for (const { at, kind, uid } of objects) {
    try {
      await deleteObject(at, uid);
    } catch (error) {
      if (!isMissing(error)) left.push({ at, kind, ...(uid !== undefined && { uid }), error: asStatusError(error) });
    }
  }
  return left;
}

const isMissing = (error: unknown): boolean => isStatusError(error) && error.code === 404;
