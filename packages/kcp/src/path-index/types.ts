import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "../names/annotations.ts";

/** How a shard is reached. */
export interface IndexedShard {
  /** `Shard.spec.baseURL`: what paths `/clusters/<name>` are appended to. */
  readonly baseURL: string;
  /** `Shard.spec.virtualWorkspaceURL`. */
  readonly virtualWorkspaceURL?: string | undefined;
}

/** Which Workspace object. */
export interface WorkspaceKey {
  /** The logical cluster that the object is in, by name: the workspace's parent. */
  readonly cluster: string;
  /** The object's name. */
  readonly name: string;
}

/** What the index needs of a Workspace; `indexedWorkspace` reads it off the object. */
export interface IndexedWorkspace extends WorkspaceKey {
  /** `spec.cluster`: the logical cluster that stands behind it. Default: none yet. */
  readonly target?: string | undefined;
  /** `spec.URL` of a workspace that has a `spec.mount`; only asked for without a target. No http or https URL: not reachable. */
  readonly mountURL?: string | undefined;
  /** `status.phase`: with `Scheduling` it is not reachable yet, with `Unavailable` it and all below it answer 503. */
  readonly phase?: string | undefined;
}

/** What the index needs of a LogicalCluster; `indexedLogicalCluster` reads it off the object. */
export interface IndexedLogicalCluster {
  /** The logical cluster's name, not the object's (which is always `cluster`). */
  readonly name: string;
  /** The canonical path, annotation `kcp.io/path`. Default: what the workspaces that lead to it make. */
  readonly path?: string | undefined;
  /** The workspace's type with its path, annotation `internal.tenancy.kcp.io/type`: `root:universal`. */
  readonly type?: string | undefined;
}

/** Which workspace a logical cluster stands behind. */
export interface FoundWorkspace extends WorkspaceKey {
  /** The shard that the Workspace object is on: its parent's, which need not be its own. */
  readonly shard: string;
}

/** What a path leads to; not one of the kinds tells what the asking user may know. */
export type Lookup = FoundCluster | FoundMount | UnavailableWorkspace | UnreachableWorkspace;

/** A logical cluster. */
export interface FoundCluster {
  readonly kind: "cluster";
  /** Its name. */
  readonly cluster: string;
  /** The shard that it is on. */
  readonly shard: string;
  /** That shard's. */
  readonly baseURL: string;
  /** That shard's. */
  readonly virtualWorkspaceURL: string | undefined;
  /** The canonical path, see `pathOf`. */
  readonly path: string;
  /** As it was said in {@link IndexedLogicalCluster}. */
  readonly type: string | undefined;
}

/** A workspace that is mounted. kcp knows no shard, cluster or type of it. */
export interface FoundMount {
  readonly kind: "mount";
  /** Where its requests go; as its mount object says, so not to be trusted further than who may write that object. */
  readonly url: string;
  /** The Workspace object. */
  readonly workspace: FoundWorkspace;
  /** Its canonical path. */
  readonly path: string;
  /** What the path says beyond the mount, `foo:bar`, or `""`. kcp ignores it: the answer is that of the mount itself. */
  readonly rest: string;
}

/** A workspace on the way is in phase `Unavailable`. */
export interface UnavailableWorkspace {
  readonly kind: "unavailable";
  /** What kcp answers with, with no Retry-After. */
  readonly code: 503;
  /** For a Status: in words of the path that was asked for, so that it tells nothing new. */
  readonly reason: string;
}

/** A path that leads nowhere now. kcp answers 404 on a shard, 403 at the front proxy, to all of them. */
export interface UnreachableWorkspace {
  /**
   * - `unknown`: nothing was ever said of it, or long ago.
   * - `pending`: there is one, but not yet where it leads to: its phase is `Scheduling`, it has neither target nor a URL that
   *   can be asked, or no shard is known that has its logical cluster.
   * - `gone`: it was there, or its logical cluster, and was deleted; how long that is known, {@link PathIndex} says.
   */
  readonly kind: "unknown" | "pending" | "gone";
  /** As that of {@link UnavailableWorkspace}: of the part of the path that leads nowhere. */
  readonly reason: string;
}

const stringMember = (from: unknown, key: string): string | undefined => {
  const value = isJsonObject(from) ? from[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
};

const memberOf = (from: unknown, key: string): unknown => (isJsonObject(from) ? from[key] : undefined);

/**
 * What the index needs of a Workspace object, as shards serve it; fields that are not as they should be count as absent.
 * Undefined without the annotation `kcp.io/cluster` or a name.
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

/** What the index needs of a LogicalCluster object. Undefined without the annotation `kcp.io/cluster`. */
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
