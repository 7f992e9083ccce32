import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { WorkspaceMount } from "@virtual-workspaces/kcp";
import { IS_MOUNT_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** Reference of a Workspace to its mount object. */
export type MountReference = WorkspaceMount["ref"];

/** State of a mount object, by kcp's contract. */
export interface MountObject {
  readonly kind: "object";
  /** `status.phase`. Any value but `Ready` counts as not ready. */
  readonly phase: string | undefined;
  /** `status.URL`. */
  readonly url: string | undefined;
  /** Whether the object has the annotation {@link IS_MOUNT_ANNOTATION}. */
  readonly isMarked: boolean;
}

/** Result of reading a mount object. */
export type FoundMount =
  | MountObject
  | { readonly kind: "missing" }
  /** The kind does not exist in the logical cluster. */
  | { readonly kind: "unserved" }
  /** The reference is invalid. */
  | { readonly kind: "invalid"; readonly message: string };

/** Reads the contract's fields of an object of any kind. Values that are not strings count as missing. */
export function mountObject({ metadata, ...object }: KubeObject): MountObject {
  const status = (object as { readonly status?: unknown }).status;
  const text = (field: string): string | undefined => {
    const value = isJsonObject(status) ? status[field] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const isMarked = metadata.annotations?.[IS_MOUNT_ANNOTATION] === "true";
  return { kind: "object", phase: text("phase"), url: text("URL"), isMarked };
}

/** Returns why a URL is not usable, else `undefined`. Security: the result never repeats the URL, which may contain a password. */
export function urlProblem(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return "status.URL is missing";
  if (!/^https?:\/\/[^\s\\]+$/i.test(url) || !URL.canParse(url))
    return "status.URL is not an absolute http or https URL";
  const { username, password } = new URL(url);
  return username === "" && password === "" ? undefined : "status.URL contains a user or a password";
}

/** Keeps only the metadata that identifies an object and its version. */
export function identifyingMetadata<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, annotations } = metadata;
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { annotations: { [CLUSTER_ANNOTATION]: cluster } }),
    },
  } as unknown as T;
}
