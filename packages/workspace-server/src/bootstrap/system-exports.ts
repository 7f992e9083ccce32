import type { Resource } from "@virtual-workspaces/framework";
import {
  Partition,
  PartitionSet,
  Shard,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";

/** An APIExport in `root` that kinds of kcp's own come by. */
export interface SystemExport {
  readonly name: string;
  /** Whether who binds it may do at most what roles in `root` say (its `maximalPermissionPolicy`). */
  readonly policy: boolean;
  readonly kinds: readonly Resource[];
}

const kinds = (...list: readonly unknown[]): readonly Resource[] => list as readonly Resource[];

/** All of them, as kcp ships them. */
export const systemExports: readonly SystemExport[] = [
  {
    name: "tenancy.kcp.io",
    policy: true,
    kinds: kinds(WorkspaceAuthenticationConfiguration, Workspace, WorkspaceType),
  },
  { name: "topology.kcp.io", policy: false, kinds: kinds(Partition, PartitionSet) },
  { name: "shards.core.kcp.io", policy: false, kinds: kinds(Shard) },
];
