import { ApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  allow,
  defineVirtualWorkspace,
  deny,
  type FollowedDependency,
  type ServerOptions,
  type ViewDependency,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  APIConversion,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  LogicalCluster,
  Shard,
  SYSTEM_ADMIN_CLUSTER,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { type BindingContent, ClusterRole, ClusterRoleBinding, type RoleContent } from "../kinds/rbac.ts";
import type { ownViews } from "../serving/listener.ts";
import { whenLoaded } from "../serving/served-shard.ts";
import type { Informer } from "../state/informers/informer.ts";
import type { PeerState, ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import {
  bindingReplicatedFor,
  clusterReplicatedFor,
  Replicated,
  type ReplicatedKind,
  roleReplicatedFor,
} from "./replicated-kind.ts";

/** What {@link cacheView} shows. */
export interface CacheViewOptions {
  readonly registry: ShardRegistry;
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
export function cacheView({ registry, ready, log }: CacheViewOptions): VirtualWorkspace {
  const kinds = KINDS.map((kind) => new Replicated(registry, kind, log));
  const resources = kinds.map((kind) => kind.serve());
  return defineVirtualWorkspace({
    name: "cache",
    path: "/shards/:shard/clusters/:cluster",
    wildcard: true,
    authorize: ({ user }) => (user.in(MASTERS_GROUP) ? allow() : deny("access denied")),
    resources: ({ params: { shard } }) => {
      if (shard !== "*" && !SHARD_NAME.test(shard))
        throw ApiError.badRequest(`invalid shard: ${JSON.stringify(shard)} does not match the regex`);
      return whenLoaded(registry.whole(), () => resources);
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
    choose: ({ state }: ShardPeer) => ({
      of: (_: unknown, cluster: string) => clusterReplicatedFor(state, cluster),
      depends: new Replication(state, state.logicalClusters as never),
    }),
  },
  {
    resource: ClusterRole,
    choose: ({ state }: ShardPeer) => ({
      of: ({ metadata, rules }: ObjectOf<RoleContent>, cluster: string) =>
        roleReplicatedFor(state, cluster, { name: metadata.name ?? "", rules }),
      depends: new Replication(state, state.rbac.clusterRoles as never),
    }),
  },
  {
    resource: ClusterRoleBinding,
    choose: ({ state }: ShardPeer) => ({
      of: (binding: ObjectOf<BindingContent>, cluster: string) => bindingReplicatedFor(state, cluster, binding),
      depends: new Replication(state, state.rbac.clusterRoleBindings as never),
    }),
  },
] as unknown as readonly ReplicatedKind<object>[];

/**
 * What a server serves to views of its own: its logical clusters, and below `/services/cache` what the shards tell one another,
 * since a view of one shard may be about what is on another.
 */
export function loopbackViews(
  { virtualWorkspaces, impersonation }: ReturnType<typeof ownViews>,
  options: CacheViewOptions,
): Pick<ServerOptions, "virtualWorkspaces" | "impersonation" | "log"> {
  return { virtualWorkspaces: [...virtualWorkspaces, cacheView(options)], impersonation, log: options.log };
}

/**
 * What decides which ClusterRoles, ClusterRoleBindings and LogicalClusters of a shard are replicated: each other, within a
 * logical cluster, its exports and workspace types, and the shipped roles.
 */
class Replication implements ViewDependency {
  readonly #state: PeerState;
  readonly #shown: Informer;

  /** @param shown of which kind it is asked */
  constructor(state: PeerState, shown: Informer) {
    this.#state = state;
    this.#shown = shown;
  }

  follow(_by: undefined, again: (key?: ObjectKey) => void): FollowedDependency {
    const { rbac, logicalClusters, apiExports, workspaceTypes } = this.#state;
    const { store } = this.#shown;
    const inCluster = ({ cluster }: ObjectKey): void => {
      for (const key of store.keysIn(cluster)) again(key);
    };
    const roles = (key: ObjectKey): void => (key.cluster === SYSTEM_ADMIN_CLUSTER ? again() : inCluster(key));
    const stack = new DisposableStack();
    stack.use(rbac.clusterRoles.onChangedKey(roles));
    const others = [rbac.clusterRoleBindings, logicalClusters, apiExports, workspaceTypes];
    for (const informer of others) stack.use(informer.onChangedKey(inCluster));
    return {
      confirm: async (request) => {
        await Promise.all([rbac.clusterRoles, ...others].map((informer) => informer.confirm(request)));
      },
      [Symbol.dispose]: () => stack[Symbol.dispose](),
    };
  }
}
