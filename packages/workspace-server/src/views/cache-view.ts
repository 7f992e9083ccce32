import { ApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  allow,
  defineVirtualWorkspace,
  deny,
  type FollowedDependency,
  type ServedResource,
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
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  LogicalCluster,
  Shard,
  SYSTEM_ADMIN_CLUSTER,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { type BindingContent, ClusterRole, ClusterRoleBinding, type RoleContent } from "../kinds/rbac.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../kinds/webhook-configuration.ts";
import type { ownViews } from "../serving/listener.ts";
import { whenLoaded } from "../serving/served-shard.ts";
import type { Informer } from "../state/informers/informer.ts";
import type { PeerState, ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { CachedObjects } from "./cached-objects.ts";
import {
  bindingReplicatedFor,
  clusterReplicatedFor,
  Replicated,
  type ReplicatedKind,
  roleReplicatedFor,
} from "./replicated-kind.ts";

/** Options of {@link cacheView}. */
export interface CacheViewOptions {
  readonly registry: ShardRegistry;
  /** Resolves when the shards know their objects. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
}

/**
 * Serves `/services/cache/shards/<shard or *>/clusters/<name or *>`: the objects that shards share, at the URLs of kcp's
 * cache server. These are exports with their schemas and slices, ClusterCachedResources with theirs, shards, workspace types, webhook configurations, and those roles, bindings and
 * logical clusters that other shards need, and the objects of ClusterCachedResources. They are no copies but the shards' objects, read-only, with the annotations of
 * kcp's copies. Security: only `system:masters` have access, since the view has no permissions of its own.
 */
export function cacheView({ registry, ready, log }: CacheViewOptions): VirtualWorkspace {
  const kinds = KINDS.map((kind) => new Replicated(registry, kind, log));
  const resources = kinds.map((kind) => kind.serve());
  const cached = new CachedObjects(registry, log);
  const lists = new WeakMap<object, readonly ServedResource[]>();
  const servedIn = (cluster: string): readonly ServedResource[] => {
    const own = cached.servedIn(cluster);
    const list = lists.get(own) ?? [...resources, ...own];
    lists.set(own, list);
    return list;
  };
  return defineVirtualWorkspace({
    name: "cache",
    path: "/shards/:shard/clusters/:cluster",
    wildcard: true,
    authorize: ({ user }) => (user.in(MASTERS_GROUP) ? allow() : deny("access denied")),
    resources: ({ params: { shard, cluster = "" } }) => {
      if (shard !== "*" && !SHARD_NAME.test(shard))
        throw ApiError.badRequest(`invalid shard: ${JSON.stringify(shard)} does not match the regex`);
      return whenLoaded(registry.whole(), () => servedIn(cluster));
    },
    ready,
    setup: () => ({
      [Symbol.dispose]: () => {
        for (const part of [...kinds, cached]) part[Symbol.dispose]();
      },
    }),
  });
}

const SHARD_NAME = /^[a-z0-9:-]{0,61}$/;

const KINDS: readonly ReplicatedKind<object>[] = [
  ...[
    ...[APIExport, APIExportEndpointSlice, APIResourceSchema, APIConversion, Shard, WorkspaceType],
    ...[ClusterCachedResource, ClusterCachedResourceEndpointSlice],
    ...[MutatingWebhookConfiguration, ValidatingWebhookConfiguration],
  ].map((resource) => ({ resource })),
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
 * Returns what a server serves to its own views: its logical clusters, and the cache view below `/services/cache`, since a
 * view of one shard may need objects of another.
 */
export function loopbackViews(
  { virtualWorkspaces, impersonation }: ReturnType<typeof ownViews>,
  options: CacheViewOptions,
): Pick<ServerOptions, "virtualWorkspaces" | "impersonation" | "log"> {
  return { virtualWorkspaces: [...virtualWorkspaces, cacheView(options)], impersonation, log: options.log };
}

/**
 * Inputs of the replication of ClusterRoles, ClusterRoleBindings and LogicalClusters: each other, exports and workspace
 * types, within a logical cluster, and the bootstrap roles.
 */
class Replication implements ViewDependency {
  readonly #state: PeerState;
  readonly #shown: Informer;

  /** @param shown informer of the replicated kind */
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
