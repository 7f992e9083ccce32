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
 * Which logical cluster, on which shard, a workspace path leads to: fed with what the shards say, asked per request
 * (kcp's `index.State`). It does no I/O and has no timers; its answers are of the moment.
 *
 * What a shard says of one object counts until it says otherwise, so events of different objects and shards may come in
 * any order: a workspace before the logical cluster that it is in, before the one that it leads to, before its shard.
 * Events of one object must come in theirs. A workspace counts on the shard that has the logical cluster it is in: what
 * other shards say of workspaces there is kept, and of no effect. Where several shards say that they have a logical
 * cluster (one that is being moved), the first by name counts.
 *
 * It says where things are, not who may see them: that is for authorization at the shard. Memory grows with what it is
 * fed and with nothing else: 250 bytes for each workspace with its logical cluster where a hundred have one parent, 280
 * where ten have, up to 200 and the length of its path more for each parent (measured; names of 16 characters, Node 24).
 * Lookups keep nothing. Of the Workspaces and LogicalClusters that a shard has deleted at least the last 5,000 are
 * remembered, at most 10,000, the oldest forgotten first: some 1 MB for each shard at most.
 */
export class PathIndex {
  readonly #graph = new Graph();

  /** A shard appears, or has other URLs. What is on it is unknown until it is set. */
  setShard(name: string, { baseURL, virtualWorkspaceURL }: IndexedShard): void {
    this.#graph.shard(name).urls = { baseURL, virtualWorkspaceURL };
  }

  /** A shard is gone, with all it said, and of what is on it nothing is known: it may be back, so that it does not count as deleted. Looks at every logical cluster: some 0.1 s for a million. */
  deleteShard(name: string): void {
    const shard = this.#graph.shards.get(name);
    if (shard !== undefined) this.#graph.deleteShard(shard);
  }

  /** A Workspace appears or changes, as the shard says that it is on; its target may change too. */
  setWorkspace(shard: string, workspace: IndexedWorkspace): void {
    this.#graph.setWorkspace(this.#graph.shard(shard), workspace);
  }

  /** A Workspace is gone. The logical cluster that it led to stays, and can be reached by its name. */
  deleteWorkspace(shard: string, key: WorkspaceKey): void {
    const from = this.#graph.shards.get(shard);
    if (from !== undefined) this.#graph.deleteWorkspace(from, key);
  }

  /** A LogicalCluster appears or changes, as the shard says that it is on. */
  setLogicalCluster(shard: string, logicalCluster: IndexedLogicalCluster): void {
    this.#graph.setLogicalCluster(this.#graph.shard(shard), logicalCluster);
  }

  /**
   * A LogicalCluster is gone from a shard, and paths that go through it lead nowhere. Unlike in kcp, the Workspaces in it
   * stay known until they are deleted too, so that it may come back in any order.
   */
  deleteLogicalCluster(shard: string, name: string): void {
    const from = this.#graph.shards.get(shard);
    if (from !== undefined) this.#graph.deleteLogicalCluster(from, name);
  }

  /**
   * What a path leads to (kcp's `LookupURL`): it begins with the name of any logical cluster, `root:org:team` or
   * `2x3y4z:team`, or with the user of a home workspace, `user:alice:team`. A `system:` name is one name. Text that is
   * no path is unknown. What was deleted and is there again counts at once.
   */
  lookup(path: string): Lookup {
    return lookup(this.#graph, path);
  }

  /**
   * The canonical path of a logical cluster, `root:org:team` for `2x3y4z`: what its shard says; without that, the
   * workspaces by which it is reached; without those, its name. Undefined if no shard has it.
   */
  pathOf(cluster: string): string | undefined {
    const node = this.#graph.clusters.get(cluster);
    return node?.shard === undefined ? undefined : pathOf(this.#graph, node);
  }

  /**
   * The workspace that leads to a logical cluster, and with it its parent; the first by names if there are several.
   * Undefined if there is none, as for `root` and homes, or no shard has the logical cluster.
   */
  workspaceOf(cluster: string): FoundWorkspace | undefined {
    const node = this.#graph.clusters.get(cluster);
    const link = node?.shard === undefined ? undefined : linkOf(this.#graph, node);
    return link === undefined ? undefined : workspaceOf(link);
  }

  /** The shard that has a logical cluster. */
  shardOf(cluster: string): string | undefined {
    return this.#graph.clusters.get(cluster)?.shard?.name;
  }

  /** A shard's URLs; undefined if it was not set. */
  shard(name: string): IndexedShard | undefined {
    return this.#graph.shards.get(name)?.urls;
  }

  /** How many logical clusters a shard says it has, for a gauge. */
  logicalClusters(shard: string): number {
    return this.#graph.shards.get(shard)?.clusters ?? 0;
  }
}
