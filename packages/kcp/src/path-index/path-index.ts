import { Graph } from "./graph.ts";
import type {
  FoundWorkspace,
  IndexedLogicalCluster,
  IndexedShard,
  IndexedWorkspace,
  Lookup,
  WorkspaceKey,
} from "./types.ts";
import { linkOf, lookup, pathOf, workspaceOf } from "./walk.ts";

/**
 * Index from workspace paths to logical clusters and their shards (kcp's `index.State`). It is fed with the objects of the shards,
 * and each request looks up a path. It does no I/O and has no timers.
 *
 * A shard's report on an object counts until the shard changes it. Events of different objects and shards may therefore arrive in
 * any order: a workspace before its parent, its target or its shard. Events of one object must arrive in order. A workspace counts
 * on the shard of its parent; workspaces there that other shards report are kept without effect. If several shards report a logical
 * cluster, which is being moved, the first by name counts.
 *
 * Security: the index does not authorize; the shard must. Memory grows only with the reported objects. A workspace with its logical
 * cluster takes 250 bytes if a hundred have one parent, 280 if ten have. A parent takes up to 200 bytes more, and its path
 * (measured; names of 16 characters, Node.js 24). Lookups store nothing. For each shard the index remembers the last 5,000 to 10,000
 * deleted Workspaces and LogicalClusters, in about 1 MB.
 */
export class PathIndex {
  readonly #graph = new Graph();

  /** Adds a shard or updates its URLs. Objects on it are unknown until they are set. */
  setShard(name: string, { baseURL, virtualWorkspaceURL }: IndexedShard): void {
    this.#graph.shard(name).urls = { baseURL, virtualWorkspaceURL };
  }

  /**
   * Removes a shard and its reports. Its objects do not count as deleted, since the shard may return. Visits every logical cluster:
   * about 0.1 s for a million.
   */
  deleteShard(name: string): void {
    const shard = this.#graph.shards.get(name);
    if (shard !== undefined) this.#graph.deleteShard(shard);
  }

  /** Adds or updates a Workspace that a shard reported. Its target may change. */
  setWorkspace(shard: string, workspace: IndexedWorkspace): void {
    this.#graph.setWorkspace(this.#graph.shard(shard), workspace);
  }

  /** Removes a Workspace. Its logical cluster stays, reachable by name. */
  deleteWorkspace(shard: string, key: WorkspaceKey): void {
    const from = this.#graph.shards.get(shard);
    if (from !== undefined) this.#graph.deleteWorkspace(from, key);
  }

  /** Adds or updates a LogicalCluster that a shard reported. */
  setLogicalCluster(shard: string, logicalCluster: IndexedLogicalCluster): void {
    this.#graph.setLogicalCluster(this.#graph.shard(shard), logicalCluster);
  }

  /**
   * Removes a LogicalCluster of a shard, and paths through it lead nowhere. Unlike in kcp, its Workspaces stay until they are
   * deleted too, so that it may return in any order.
   */
  deleteLogicalCluster(shard: string, name: string): void {
    const from = this.#graph.shards.get(shard);
    if (from !== undefined) this.#graph.deleteLogicalCluster(from, name);
  }

  /**
   * Looks up a path (kcp's `LookupURL`). It starts with the name of any logical cluster, `root:org:team` or `2x3y4z:team`, or with
   * the user of a home workspace, `user:alice:team`. A `system:` name is one name. An invalid path is unknown. An object that was
   * deleted and created again counts at once.
   */
  lookup(path: string): Lookup {
    return lookup(this.#graph, path);
  }

  /**
   * Returns the canonical path of a logical cluster, `root:org:team` for `2x3y4z`: the shard's report, else the path of its
   * workspaces, else its name. Undefined if no shard has it.
   */
  pathOf(cluster: string): string | undefined {
    const node = this.#graph.clusters.get(cluster);
    return node?.shard === undefined ? undefined : pathOf(this.#graph, node);
  }

  /**
   * Returns the workspace of a logical cluster, and so its parent; the first by name of several. Undefined without one, as for
   * `root` and homes, or if no shard has the logical cluster.
   */
  workspaceOf(cluster: string): FoundWorkspace | undefined {
    const node = this.#graph.clusters.get(cluster);
    const link = node?.shard === undefined ? undefined : linkOf(this.#graph, node);
    return link === undefined ? undefined : workspaceOf(link);
  }

  /**
   * Returns the names by which paths lead to a logical cluster: its own and those of its workspaces. Every path whose lookup reads the
   * logical cluster contains one of them, for those who keep results of {@link lookup}.
   */
  namesOf(cluster: string): readonly string[] {
    const node = this.#graph.clusters.get(cluster);
    return [cluster, ...(node === undefined ? [] : this.#graph.links(node).map(({ name }) => name))];
  }

  /** Returns the shard of a logical cluster. */
  shardOf(cluster: string): string | undefined {
    return this.#graph.clusters.get(cluster)?.shard?.name;
  }

  /** Returns the URLs of a shard; undefined if it was not set. */
  shard(name: string): IndexedShard | undefined {
    return this.#graph.shards.get(name)?.urls;
  }

  /** Returns the number of logical clusters of a shard, for a gauge. */
  logicalClusters(shard: string): number {
    return this.#graph.shards.get(shard)?.clusters ?? 0;
  }
}
