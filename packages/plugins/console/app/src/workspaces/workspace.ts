import { workspacePath } from "../api/base.ts";
import type { LiveList } from "../api/live-list.ts";
import { liveList } from "../api/live-list.ts";
import { onlyWorkspace } from "../api/session.ts";
import type { Condition, KubernetesObject } from "../api/types.ts";
import { texts } from "../texts.ts";

export interface TypeReference {
  readonly name: string;
  readonly path?: string;
}

/** Workspace of kcp, as far as the page reads it. */
export interface Workspace extends KubernetesObject {
  readonly spec?: {
    readonly type?: TypeReference;
    readonly cluster?: string;
    readonly URL?: string;
    readonly mount?: {
      readonly ref: {
        readonly apiVersion: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
      };
    };
  };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export const WORKSPACES = { group: "tenancy.kcp.io", version: "v1alpha1", resource: "workspaces" } as const;

/** The workspaces in a workspace, live. */
export const childWorkspaces = (parent: string) =>
  liveList<Workspace>(`${workspacePath(parent)}/apis/tenancy.kcp.io/v1alpha1/workspaces`);

export type WorkspaceList = LiveList<Workspace>;

/** Name of the shard of a workspace, where the server says it: kcp itself has a hash of it. */
export const shardOf = ({ metadata }: KubernetesObject): string | undefined =>
  metadata.annotations?.["core.kcp.io/shard"];

/** Path of the parent; undefined for the top of a tree. */
export function parentOf(path: string): string | undefined {
  const parts = path.split(":");
  const top = topOf(path).split(":").length;
  return parts.length > top ? parts.slice(0, -1).join(":") : undefined;
}

/** The topmost path that can be a workspace: the home workspaces of users begin with two parts, and some sessions have one workspace. */
export function topOf(path: string): string {
  const only = onlyWorkspace.value;
  if (only !== undefined && (path === only || path.startsWith(`${only}:`))) return only;
  const [first = "", second] = path.split(":");
  return first === "user" && second !== undefined ? `${first}:${second}` : first;
}

/** The workspaces from the top to the path itself. */
export function ancestorsOf(path: string): string[] {
  const parent = parentOf(path);
  return parent === undefined ? [path] : [...ancestorsOf(parent), path];
}

export const nameOf = (path: string): string =>
  parentOf(path) === undefined ? path : (path.split(":").at(-1) ?? path);

/** Phase of a workspace; `Deleting` while it is being deleted. */
export function phaseOf({ metadata, status }: Workspace): string {
  return metadata.deletionTimestamp !== undefined ? texts.tree.deleting : (status?.phase ?? "");
}

export interface MountState {
  /** Undefined until a condition says it. */
  readonly isReachable: boolean | undefined;
  readonly message: string;
}

/** Whether the target of a mounted workspace is available; undefined for a workspace that is not mounted. */
export function mountOf({ spec, status }: Workspace): MountState | undefined {
  if (spec?.mount === undefined) return undefined;
  const ready = status?.conditions?.find(({ type }) => type === "WorkspaceMountReady" || type === "MountReady");
  const isReachable = ready === undefined ? undefined : ready.status === "True";
  return { isReachable, message: ready?.message ?? ready?.reason ?? "" };
}
