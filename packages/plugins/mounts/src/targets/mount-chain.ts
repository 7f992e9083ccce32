import { apiVersionOf, baseName, parentPath, quote } from "@virtual-workspaces/apimachinery";
import {
  clusterOf,
  clusterURL,
  HOME_PATH_PREFIX,
  LOGICAL_CLUSTER_NAME,
  LogicalCluster,
  Mount,
  mountTypeOf,
  Workspace,
} from "@virtual-workspaces/kcp";
import type { MountType, NoTarget, RelatedObject, RelatedObjects, Target } from "@virtual-workspaces/kcp/targets";
import { none } from "../types/no-target.ts";

/** Options of {@link chainProblem}. */
export interface ChainOptions {
  readonly types: ReadonlyMap<string, MountType>;
  readonly related: RelatedObjects;
  /** Returns the path of a URL of this server, on any of its shards; `undefined` for other servers. */
  readonly pathOf: (url: string) => string | undefined;
}

/** Exceeds the hop limit of requests. */
const LONGEST_CHAIN = 16;

/** Place on this server that a target leads to. */
type Place = { readonly path: string } | { readonly cluster: string; readonly name: string };

/** Object at a place. */
interface Step {
  /** Identifies the Mount or mounted Workspace. @default none: the chain ends here */
  readonly key?: string;
  /** Where it leads. @default not to this server */
  readonly next?: Place | undefined;
  /** Reason why a workspace is not usable. */
  readonly problem?: NoTarget | undefined;
}

/**
 * Follows the mounts of this server that a target leads to, of any type and shard, so that each change in the chain resolves the
 * mount again. Where a target leads does not depend on whether it is ready: a cycle makes its mounts unready, and must not end by
 * that.
 *
 * @returns the reason `Cycle` for a chain that leads back; the reason why the workspace of a `workspace` target is not usable; why
 * the chain is not known yet; or `undefined`
 */
export function chainProblem(mount: Mount, target: Target | NoTarget, options: ChainOptions): NoTarget | undefined {
  const seen = new Map([[mountKey(mount), "this mount"]]);
  let place = placeOf(target, options);
  let problem: NoTarget | undefined;
  while (place !== undefined) {
    const step = stepOf(place, options);
    // Only a workspace shown in another place has to be ready.
    const counts = step.problem?.phase === "Initializing" || (seen.size === 1 && target.kind === "workspace");
    if (counts) problem ??= step.problem;
    if (step.key === undefined) return problem;
    if (seen.has(step.key))
      return none(
        "Unknown",
        "Cycle",
        `the mounts form a cycle: ${[...seen.values(), textOf(place)].join(" leads to ")}: mount another workspace`,
      );
    if (seen.size === LONGEST_CHAIN)
      return none("Unknown", "Cycle", `chain of more than ${LONGEST_CHAIN} mounts: mount its last workspace directly`);
    seen.set(step.key, textOf(place));
    place = step.next;
  }
  return problem;
}

function placeOf(target: Target | NoTarget, options: ChainOptions): Place | undefined {
  switch (target.kind) {
    case "workspace":
      return { path: target.path };
    case "redirect":
      return target.origin === undefined
        ? { path: target.path }
        : placeAt(clusterURL(target.origin, target.path), options);
    default:
      return target.url === undefined ? undefined : placeAt(target.url, options);
  }
}

function placeAt(url: string, { pathOf }: ChainOptions): Place | undefined {
  const [, root, ...names] = pathOf(url)?.split("/").map(decoded) ?? [];
  if (root === "clusters" && names[0] !== undefined) return { path: names[0] };
  const [view, cluster, name] = names;
  const isMount = root === "services" && view === "mounts" && cluster !== undefined && name !== undefined;
  return isMount ? { cluster, name } : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function textOf(place: Place): string {
  return "path" in place ? place.path : `Mount ${quote(place.name)} of ${place.cluster}`;
}

function stepOf(place: Place, options: ChainOptions): Step {
  return "path" in place ? atPath(place.path, options) : ofMount(place, options);
}

function atPath(path: string, options: ChainOptions): Step {
  const { related } = options;
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
  const notReady = isReady
    ? undefined
    : none("Connecting", "TargetNotReady", `the workspace ${quote(path)} is not Ready`);
  const shown = shownBy(workspace, options);
  return { ...shown, problem: shown.problem ?? notReady };
}

/** Returns what a mounted Workspace leads to. */
function shownBy({ spec, metadata, ...workspace }: Workspace, options: ChainOptions): Step {
  const { ref } = spec.mount ?? {};
  // A logical cluster takes precedence over a mount, as in kcp.
  if (ref === undefined || spec.cluster) return {};
  const cluster = clusterOf({ metadata, ...workspace });
  if (ref.kind === Mount.kind && ref.apiVersion.startsWith(`${Mount.group}/`))
    return ofMount({ cluster, name: ref.name }, options);
  const next = spec.URL === undefined ? undefined : placeAt(spec.URL, options);
  return { key: `workspace ${cluster}/${metadata.name}`, next };
}

function ofMount({ cluster, name }: { readonly cluster: string; readonly name: string }, options: ChainOptions): Step {
  const { types, related } = options;
  const found = related.get({ cluster, apiVersion: apiVersionOf(Mount), kind: Mount.kind, name });
  if (found.state === "unknown")
    return { problem: none("Initializing", "TargetUnknown", `the Mount ${quote(name)} has not been read yet`) };
  if (found.state !== "found") return {};
  const mount = found.object as Mount;
  const target = types.get(mountTypeOf(mount))?.resolve(mount, related);
  return { key: mountKey(mount), next: target && placeOf(target, options) };
}

function missing(path: string, { state }: RelatedObject): NoTarget {
  if (state === "unknown")
    return none("Initializing", "TargetUnknown", `the workspace ${quote(path)} has not been read yet`);
  return none("Unknown", "TargetNotFound", `workspace ${quote(path)} not found: check spec.path`);
}

function mountKey(mount: Mount): string {
  return `mount ${clusterOf(mount)}/${mount.metadata.name}`;
}
