import { apiVersionOf, baseName, parentPath, quote } from "@virtual-workspaces/apimachinery";
import {
  clusterOf,
  HOME_PATH_PREFIX,
  LOGICAL_CLUSTER_NAME,
  LogicalCluster,
  Mount,
  mountTypeOf,
  Workspace,
} from "@virtual-workspaces/kcp";
import type { MountType, NoTarget, RelatedObject, RelatedObjects, Target } from "@virtual-workspaces/kcp/targets";
import { none } from "./no-target.ts";

/** Options of {@link redirectMount}. */
export interface RedirectMountOptions {
  /**
   * `https://host` of the server with the workspaces. Clients send no token to a host other than the requested one.
   * @default the requested host
   */
  readonly origin?: string;
}

/**
 * Returns the type `Redirect`: the server redirects callers (307) to the workspace at `spec.path`, where they use their own
 * identity. Security: the server does not check that the workspace exists, so the redirect reveals nothing about it.
 *
 * @throws Error on an invalid origin
 */
export function redirectMount({ origin }: RedirectMountOptions = {}): MountType {
  if (origin !== undefined && (!/^https?:$/.test(new URL(origin).protocol) || new URL(origin).origin !== origin))
    throw new Error("redirectMount: invalid origin: use http or https with host and port only");
  const resolve = ({ spec: { path } }: Mount): Target | NoTarget =>
    path === undefined
      ? none("Unknown", "PathMissing", "spec.path is required: set the path of a workspace")
      : { kind: "redirect", path, ...(origin !== undefined && { origin }) };
  return { type: "Redirect", resolve };
}

const TYPE = "Workspace";
/** Exceeds the hop limit of requests. */
const LONGEST_CHAIN = 16;

/**
 * Returns the type `Workspace`: the workspace at `spec.path`, served in another place. That workspace may be mounted itself; a
 * chain with a cycle gets the reason `Cycle`. Callers keep their identity, and that workspace authorizes them.
 */
export function workspaceMount(): MountType {
  return { type: TYPE, resolve };
}

/** Follows the whole chain, so that each change in it resolves the mount again. */
function resolve(mount: Mount, related: RelatedObjects): Target | NoTarget {
  const { path: first } = mount.spec;
  if (first === undefined) return none("Unknown", "PathMissing", "spec.path is required: set the path of a workspace");
  const seen = new Map([[keyOf(mount), "this mount"]]);
  let problem: NoTarget | undefined;
  let path = first;
  for (let steps = 0; steps < LONGEST_CHAIN; steps += 1) {
    const step = stepOf(path, related);
    problem ??= step.problem;
    const { next } = step;
    if (next === undefined) return problem ?? { kind: "workspace", path: first };
    const key = keyOf(next);
    if (seen.has(key))
      return none(
        "Unknown",
        "Cycle",
        `the mounts form a cycle: ${[...seen.values(), path].join(" leads to ")}: mount another workspace`,
      );
    seen.set(key, path);
    path = next.spec.path ?? "";
  }
  return none("Unknown", "Cycle", `chain of more than ${LONGEST_CHAIN} mounts: mount its last workspace directly`);
}

interface Step {
  /** Reason why the workspace is not usable. */
  readonly problem?: NoTarget | undefined;
  /** Mount of the workspace, if it leads to another workspace. */
  readonly next?: Mount | undefined;
}

function stepOf(path: string, related: RelatedObjects): Step {
  const parent = parentPath(path);
  // Only homes, and logical clusters by name, have no parent here.
  if (parent === undefined || parent === HOME_PATH_PREFIX) {
    const apiVersion = apiVersionOf(LogicalCluster);
    const found = related.get({ cluster: path, apiVersion, kind: LogicalCluster.kind, name: LOGICAL_CLUSTER_NAME });
    return found.state === "found" ? {} : { problem: missing(path, found) };
  }
  const { kind } = Workspace;
  const found = related.get({ cluster: parent, apiVersion: apiVersionOf(Workspace), kind, name: baseName(path) });
  if (found.state !== "found") return { problem: missing(path, found) };
  const workspace = found.object as Workspace;
  const isReady = workspace.status?.phase === "Ready";
  return {
    next: shownBy(workspace, related),
    problem: isReady ? undefined : none("Connecting", "TargetNotReady", `the workspace ${quote(path)} is not Ready`),
  };
}

/** Returns the workspace's mount, if it has this type. */
function shownBy(workspace: Workspace, related: RelatedObjects): Mount | undefined {
  const { ref } = workspace.spec.mount ?? {};
  if (ref?.kind !== Mount.kind || !ref.apiVersion.startsWith(`${Mount.group}/`)) return undefined;
  const { apiVersion, kind, name } = ref;
  const found = related.get({ cluster: clusterOf(workspace), apiVersion, kind, name });
  if (found.state !== "found") return undefined;
  const mount = found.object as Mount;
  return mountTypeOf(mount) === TYPE ? mount : undefined;
}

function missing(path: string, { state }: RelatedObject): NoTarget {
  if (state === "unknown")
    return none("Initializing", "TargetUnknown", `the workspace ${quote(path)} has not been read yet`);
  return none("Unknown", "TargetNotFound", `workspace ${quote(path)} not found: check spec.path`);
}

function keyOf(mount: Mount): string {
  return `${clusterOf(mount)}/${mount.metadata.name}`;
}
