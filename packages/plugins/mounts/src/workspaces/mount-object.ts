import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { WorkspaceMount } from "@virtual-workspaces/kcp";
import { IS_MOUNT_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** The object that a Workspace is mounted by, as the Workspace names it. */
export type MountReference = WorkspaceMount["ref"];

/** What an object says of what it mounts, by kcp's contract of mount objects. */
export interface MountObject {
  readonly kind: "object";
  /** `status.phase`: anything but `Ready` is not ready. */
  readonly phase: string | undefined;
  /** `status.URL` */
  readonly url: string | undefined;
  /** Whether it says that it is a mount: {@link IS_MOUNT_ANNOTATION}. */
  readonly isMarked: boolean;
}

/** What was found where a reference leads. */
export type FoundMount =
  | MountObject
  | { readonly kind: "missing" }
  /** There is no such kind in the logical cluster. */
  | { readonly kind: "unserved" }
  /** Nothing can be called so. */
  | { readonly kind: "invalid"; readonly message: string };

/** What an object of any kind says by the contract. What is no text is not said. */
export function mountObject({ metadata, ...object }: KubeObject): MountObject {
  const status = (object as { readonly status?: unknown }).status;
  const text = (field: string): string | undefined => {
    const value = isJsonObject(status) ? status[field] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const isMarked = metadata.annotations?.[IS_MOUNT_ANNOTATION] === "true";
  return { kind: "object", phase: text("phase"), url: text("URL"), isMarked };
}

/** Why a Workspace cannot lead to a URL; `undefined` if it can. What it says it does not repeat: there may be a password in it. */
export function urlProblem(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return "status.URL is missing";
  if (!/^https?:\/\/[^\s\\]+$/i.test(url) || !URL.canParse(url)) return "status.URL is no absolute http or https URL";
  const { username, password } = new URL(url);
  return username === "" && password === "" ? undefined : "status.URL has a user or a password in it";
}

/** Of an object, what says which it is, and in which version. */
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
