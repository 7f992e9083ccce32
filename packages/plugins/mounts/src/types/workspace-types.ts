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

/** What {@link redirectMount} is given. */
export interface RedirectMountOptions {
  /**
   * `https://host` of the server that has the workspaces. Clients send no token to another host than they have asked.
   * @default the same as was asked
   */
  readonly origin?: string;
}

/**
 * The type `Redirect`: whoever asks is sent (307) to the workspace at `spec.path`, and asks there as themselves. Whether there is such a
 * workspace is not looked at: who may not enter it learns nothing.
 *
 * @throws Error on an origin that is none
 */
export function redirectMount({ origin }: RedirectMountOptions = {}): MountType {
  if (origin !== undefined && (!/^https?:$/.test(new URL(origin).protocol) || new URL(origin).origin !== origin))
    throw new Error("redirectMount: origin must be http or https, host and port, and nothing behind it");
  const resolve = ({ spec: { path } }: Mount): Target | NoTarget =>
    path === undefined
      ? none("Unknown", "PathMissing", "spec.path: give the path of a workspace")
      : { kind: "redirect", path, ...(origin !== undefined && { origin }) };
  return { type: "Redirect", resolve };
}

const TYPE = "Workspace";
/** More than the hop limit lets any request go. */
const LONGEST_CHAIN = 16;

/**
 * The type `Workspace`: the workspace at `spec.path` in another place. That one may be mounted itself; a chain that comes back to where
 * it has been is told as `Cycle`. Whoever comes by it asks as themselves, and that workspace decides.
 */
export function workspaceMount(): MountType {
  return { type: TYPE, resolve };
}

/** Follows the chain to its end, so that it is looked at again when anything in it changes. */
function resolve(mount: Mount, related: RelatedObjects): Target | NoTarget {
  const { path: first } = mount.spec;
  if (first === undefined) return none("Unknown", "PathMissing", "spec.path: give the path of a workspace");
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
        `${[...seen.values(), path].join(" leads to ")}, where it has been: mount something else`,
      );
    seen.set(key, path);
    path = next.spec.path ?? "";
  }
  return none(
    "Unknown",
    "Cycle",
    `more than ${LONGEST_CHAIN} mounts lead from one to the next: mount the last of them`,
  );
}

interface Step {
  /** Why the workspace cannot be used now. */
  readonly problem?: NoTarget | undefined;
  /** The mount that it shows, where that leads to yet another workspace. */
  readonly next?: Mount | undefined;
}

function stepOf(path: string, related: RelatedObjects): Step {
  const parent = parentPath(path);
  // Only a home, and what is called by its logical cluster, is in no other workspace.
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

/** The mount of this type that a workspace shows. */
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
  return none("Unknown", "TargetNotFound", `there is no workspace ${quote(path)}: spec.path leads nowhere`);
}

function keyOf(mount: Mount): string {
  return `${clusterOf(mount)}/${mount.metadata.name}`;
}
