import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace, deny, type Log, type VirtualWorkspace } from "@virtual-workspaces/framework";
import {
  APIConversion,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  LogicalCluster,
  MASTERS_GROUP,
  Shard,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { type BindingContent, ClusterRole, ClusterRoleBinding, type RoleContent } from "../kinds/rbac.ts";
import { whenLoaded } from "../serving/clusters-view.ts";
import type { ShardContext } from "../state/context.ts";
import type { Installation } from "../state/shard-registry.ts";
import { bindingReplicatedFor, clusterReplicatedFor, roleReplicatedFor } from "./replicated-for.ts";
import { Replicated, type ReplicatedKind } from "./replicated-kind.ts";
import { Replication } from "./replication.ts";

/** What {@link cacheView} shows. */
export interface CacheViewOptions {
  readonly installation: Installation;
  /** Resolves once its shards know what they have. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
}

/**
 * `/services/cache/shards/<shard or *>/clusters/<name or *>`: what shards tell each other, at the URLs of kcp's cache server:
 * exports with their schemas and slices, shards, workspace types, and of roles, bindings and logical clusters those that
 * others need to know of. It is no copy: objects are those of the shards as they are, with the annotations that kcp's
 * copies have, and nothing can be written. For `system:masters` alone, as it knows no permissions.
 */
export function cacheView({ installation, ready, log }: CacheViewOptions): VirtualWorkspace {
  const kinds = KINDS.map((kind) => new Replicated(installation, kind, log));
  const resources = kinds.map((kind) => kind.serve());
  return defineVirtualWorkspace({
    name: "cache",
    path: "/shards/:shard/clusters/:cluster",
    wildcard: true,
    authorize: ({ user }) => (user.in(MASTERS_GROUP) ? allow() : deny("access denied")),
    resources: ({ params: { shard } }) => {
      if (shard !== "*" && !SHARD_NAME.test(shard))
        throw ApiError.badRequest(`invalid shard: ${JSON.stringify(shard)} does not match the regex`);
      return whenLoaded(installation.whole(), () => resources);
    },
    ready,
    setup: () => ({
      [Symbol.dispose]: () => {
        for (const kind of kinds) kind[Symbol.dispose]();
      },
    }),
  });
}

const SHARD_NAME = /^[a-z0-9:-]{0,61}$/;

const KINDS: readonly ReplicatedKind<object>[] = [
  ...[APIExport, APIExportEndpointSlice, APIResourceSchema, APIConversion, Shard, WorkspaceType].map((resource) => ({
    resource,
  })),
  {
    resource: LogicalCluster,
    choose: ({ state }: ShardContext) => ({
      of: (_: unknown, cluster: string) => clusterReplicatedFor(state, cluster),
      depends: new Replication(state, state.logicalClusters as never),
    }),
  },
  {
    resource: ClusterRole,
    choose: ({ state }: ShardContext) => ({
      of: ({ metadata, rules }: ObjectOf<RoleContent>, cluster: string) =>
        roleReplicatedFor(state, cluster, { name: metadata.name ?? "", rules }),
      depends: new Replication(state, state.rbac.clusterRoles as never),
    }),
  },
  {
    resource: ClusterRoleBinding,
    choose: ({ state }: ShardContext) => ({
      of: (binding: ObjectOf<BindingContent>, cluster: string) => bindingReplicatedFor(state, cluster, binding),
      depends: new Replication(state, state.rbac.clusterRoleBindings as never),
    }),
  },
] as unknown as readonly ReplicatedKind<object>[];
