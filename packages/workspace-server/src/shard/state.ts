import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Resource } from "@virtual-workspaces/framework";
import {
  isConditionFalse,
  LOGICAL_CLUSTER_NAME,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  PATH_ANNOTATION,
  Partition,
  PartitionSet,
  Shard,
  Workspace,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { Namespace, type NamespaceContent } from "../kinds/core/namespace.ts";
import type { ShardObjects } from "./objects.ts";
import { RbacState } from "./rbac-state.ts";
import type { Tracked } from "./tracked.ts";

/** What a kind holds. */
type ContentOf<Kind> = Kind extends Resource<infer Content> ? Content : never;

/** What a shard knows of its objects without asking its store: the kinds that it is run by. */
export class ShardState {
  readonly rbac: RbacState;
  readonly namespaces: Tracked<NamespaceContent>;
  readonly logicalClusters: Tracked<ContentOf<typeof LogicalCluster>>;
  /**
   * Index `cluster`: by the name of the logical cluster that they lead to. `shard`: by the name of the shard that was chosen.
   * `unplaced`: those that lead nowhere yet, by the logical cluster they are in. `unschedulable`: those that found no shard, by "".
   */
  readonly workspaces: Tracked<ContentOf<typeof Workspace>>;
  /** Index `type`: by `<path>:<name>` and `<logical cluster>:<name>`. */
  readonly workspaceTypes: Tracked<ContentOf<typeof WorkspaceType>>;
  readonly shards: Tracked<ContentOf<typeof Shard>>;
  readonly partitionSets: Tracked<ContentOf<typeof PartitionSet>>;
  readonly partitions: Tracked<ContentOf<typeof Partition>>;

  constructor(objects: ShardObjects) {
    this.rbac = new RbacState(objects);
    this.namespaces = objects.track(Namespace);
    this.logicalClusters = objects.track(LogicalCluster);
    this.workspaces = objects.track(Workspace, {
      cluster: ({ spec }) => (spec.cluster === undefined ? [] : [spec.cluster]),
      shard: ({ metadata }) => {
        const shard = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
        return shard === undefined ? [] : [shard];
      },
      unplaced: ({ spec }, { cluster }) => (spec.cluster && spec.URL ? [] : [cluster]),
      unschedulable: ({ status }) => (isConditionFalse(status?.conditions, "WorkspaceScheduled") ? [""] : []),
    });
    this.workspaceTypes = objects.track(WorkspaceType, {
      type: ({ metadata }, { cluster, name }) => {
        const path = metadata.annotations?.[PATH_ANNOTATION] ?? cluster;
        return [...new Set([path, cluster])].map((place) => `${place}:${name}`);
      },
    });
    this.shards = objects.track(Shard);
    this.partitionSets = objects.track(PartitionSet);
    this.partitions = objects.track(Partition);
  }

  /** The LogicalCluster of a logical cluster. */
  logicalCluster(cluster: string): LogicalClusterObject | undefined {
    return this.logicalClusters.store.get(logicalClusterKey(cluster));
  }
}

/** Where the LogicalCluster of a logical cluster is. */
export function logicalClusterKey(cluster: string): ObjectKey {
  return { cluster, namespace: "", name: LOGICAL_CLUSTER_NAME };
}
