import { type GroupResource, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { Located } from "@virtual-workspaces/framework/resource";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { ShardContext } from "../state/context.ts";
import type { HomeWorkspaces } from "./home-workspaces.ts";

/** Shard of this process, as far as serving its logical clusters needs it. */
export interface ServedShard {
  readonly context: ShardContext;
  readonly authorizer: ShardAuthorizer;
  /** Home workspaces; only on the shard that has `root`, if enabled. */
  readonly homes: HomeWorkspaces | undefined;
  /** Returns the resources of a logical cluster, whether or not it exists; equal logical clusters share one list. */
  servedIn(cluster: string): readonly ServedResource[];
  /** Returns the metadata resource of a kind over all logical clusters. */
  metadataOf(resource: GroupResource): ServedResource | undefined;
  /** Resolves when the shard has started. */
  readonly started: Promise<void>;
}

/** Logical clusters and the shards that serve them. */
export interface Clusters {
  /** Resolves a name or path to a logical cluster, and loads it. @throws ApiError as the shard registry does */
  locate(said: string): Awaitable<string | Located>;
  /** Loads a logical cluster, or all of a shard (`*`). @returns `undefined` when it is loaded */
  load(cluster: string): Promise<void> | undefined;
  /** Returns the shard of a logical cluster, or of all of them (`*`). @throws ApiError 503 when it does not run */
  shardOf(cluster: string): ServedShard;
  /** Whether this listener cannot serve a logical cluster. */
  isElsewhere(cluster: string): boolean;
  /** Resolves when the listener can serve. */
  readonly started: Promise<void>;
}

/** Returns the logical clusters of one shard. */
export function clustersOf(shard: ServedShard): Clusters {
  const { registry, name } = shard.context;
  return {
    locate: (said) => whenLoaded(registry.reach(said), () => registry.locate(said, name)),
    load: (cluster) => loaded(shard, cluster),
    shardOf: () => shard,
    isElsewhere: (cluster) => registry.isElsewhere(cluster, name),
    get started() {
      return shard.started;
    },
  };
}

/** `*` requires that all logical clusters are loaded. */
export function loaded({ context }: ServedShard, cluster: string): Promise<void> | undefined {
  if (cluster !== WILDCARD) return context.registry.load(cluster);
  return context.objects.isWhole ? undefined : context.objects.whole;
}

/** Calls `answer` after `loading`; at once without it. */
export function whenLoaded<R>(loading: Promise<void> | undefined, answer: () => Awaitable<R>): Awaitable<R> {
  return loading === undefined ? answer() : loading.then(answer);
}
