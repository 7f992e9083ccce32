import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "../names/annotations.ts";

/** URLs of a shard. */
export interface IndexedShard {
  /** `Shard.spec.baseURL`, to which paths `/clusters/<name>` are appended. */
  readonly baseURL: string;
  /** `Shard.spec.virtualWorkspaceURL`. */
  readonly virtualWorkspaceURL?: string | undefined;
}

/** Reference to a Workspace. */
export interface WorkspaceKey {
  /** Name of the Workspace's logical cluster, its parent. */
  readonly cluster: string;
  /** Name of the Workspace. */
  readonly name: string;
}

/** Fields of a Workspace that the index uses. `indexedWorkspace` reads them from the object. */
export interface IndexedWorkspace extends WorkspaceKey {
  /** `spec.cluster`: logical cluster of the workspace. Default: none yet. */
  readonly target?: string | undefined;
  /** `spec.URL` of a workspace with a `spec.mount`; used only without a target. A URL that is not http or https makes it unreachable. */
  readonly mountURL?: string | undefined;
  /** `status.phase`. `Scheduling` makes the workspace unreachable; with `Unavailable` it and its descendants answer 503. */
  readonly phase?: string | undefined;
}

/** Fields of a LogicalCluster that the index uses. `indexedLogicalCluster` reads them from the object. */
export interface IndexedLogicalCluster {
  /** Name of the logical cluster, not of the object (which is always `cluster`). */
  readonly name: string;
  /** Canonical path, annotation `kcp.io/path`. Default: the path of its workspaces. */
  readonly path?: string | undefined;
  /** Workspace type with its path, annotation `internal.tenancy.kcp.io/type`: `root:universal`. */
  readonly type?: string | undefined;
}

/** Workspace of a logical cluster. */
export interface FoundWorkspace extends WorkspaceKey {
  /** Shard of the Workspace object, which is its parent's and may differ from its own. */
  readonly shard: string;
}

/** Result of a lookup. None of the kinds depends on the user's permissions. */
export type Lookup = FoundCluster | FoundMount | UnavailableWorkspace | UnreachableWorkspace;

/** Logical cluster. */
export interface FoundCluster {
  readonly kind: "cluster";
  /** Name of the logical cluster. */
  readonly cluster: string;
  /** Shard of the logical cluster. */
  readonly shard: string;
  /** Base URL of the shard. */
  readonly baseURL: string;
  /** Virtual workspace URL of the shard. */
  readonly virtualWorkspaceURL: string | undefined;
  /** Canonical path, see `pathOf`. */
  readonly path: string;
  /** Type from {@link IndexedLogicalCluster}. */
  readonly type: string | undefined;
}

/** Mounted workspace. kcp knows no shard, cluster or type of it. */
export interface FoundMount {
  readonly kind: "mount";
  /** Target of its requests. Security: the mount object sets it, so trust it no more than the users who may write that object. */
  readonly url: string;
  /** Workspace object. */
  readonly workspace: FoundWorkspace;
  /** Canonical path of the workspace. */
  readonly path: string;
  /** Path below the mount, `foo:bar`, or `""`. kcp ignores it and answers for the mount itself. */
  readonly rest: string;
}

/** Workspace on the path with the phase `Unavailable`. */
export interface UnavailableWorkspace {
  readonly kind: "unavailable";
  /** Status code of kcp, which sends no Retry-After. */
  readonly code: 503;
  /** Message for a Status. It only repeats parts of the requested path, so that it reveals nothing. */
  readonly reason: string;
}

/** Path that leads nowhere now. In all cases kcp answers 404 on a shard and 403 at the front proxy. */
export interface UnreachableWorkspace {
  /**
   * - `unknown`: never reported, or long ago.
   * - `pending`: the workspace exists but is not reachable yet. Its phase is `Scheduling`, it has neither a target nor a usable
   *   URL, or no known shard has its logical cluster.
   * - `gone`: the workspace or its logical cluster was deleted; {@link PathIndex} describes how long this is known.
   */
  readonly kind: "unknown" | "pending" | "gone";
  /** Message like that of {@link UnavailableWorkspace}, about the part of the path that leads nowhere. */
  readonly reason: string;
}

const stringMember = (from: unknown, key: string): string | undefined => {
  const value = isJsonObject(from) ? from[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
};

const memberOf = (from: unknown, key: string): unknown => (isJsonObject(from) ? from[key] : undefined);

/**
 * Reads the indexed fields of a Workspace object of a shard. Malformed fields count as missing. Returns undefined without the
 * annotation `kcp.io/cluster` or a name.
 */
export function indexedWorkspace(object: KubeObject): IndexedWorkspace | undefined {
  const cluster = stringMember(object.metadata.annotations, CLUSTER_ANNOTATION);
  const name = stringMember(object.metadata, "name");
  if (cluster === undefined || name === undefined) return undefined;
  const spec = memberOf(object, "spec");
  const mounted = isJsonObject(memberOf(spec, "mount"));
  return {
    cluster,
    name,
    target: stringMember(spec, "cluster"),
    mountURL: mounted ? stringMember(spec, "URL") : undefined,
    phase: stringMember(memberOf(object, "status"), "phase"),
  };
}

/** Reads the indexed fields of a LogicalCluster object. Returns undefined without the annotation `kcp.io/cluster`. */
export function indexedLogicalCluster(object: KubeObject): IndexedLogicalCluster | undefined {
  const { annotations } = object.metadata;
  const name = stringMember(annotations, CLUSTER_ANNOTATION);
  if (name === undefined) return undefined;
  return {
    name,
    path: stringMember(annotations, PATH_ANNOTATION),
    type: stringMember(annotations, WORKSPACE_TYPE_ANNOTATION),
  };
}
