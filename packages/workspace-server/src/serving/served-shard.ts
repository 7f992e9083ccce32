import { type GroupResource, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { Located } from "@virtual-workspaces/framework/resource";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { ShardContext } from "../state/context.ts";
import type { HomeWorkspaces } from "./home-workspaces.ts";

/** What a shard of this process is asked to serve its logical clusters. */
export interface ServedShard {
  readonly context: ShardContext;
  readonly authorizer: ShardAuthorizer;
  /** On the shard that has `root`, if users have homes. */
  readonly homes: HomeWorkspaces | undefined;
  /** What is served in a logical cluster, whether or not there is one; the same list for all that are equal. */
  servedIn(cluster: string): readonly ServedResource[];
  /** What is served of a resource of all logical clusters to those who want metadata alone. */
  metadataOf(resource: GroupResource): ServedResource | undefined;
  /** Resolves when it has started. */
  readonly started: Promise<void>;
}

/** Logical clusters, and who answers for them. */
export interface Clusters {
  /** The logical cluster that is meant by a name or path, of which all is known then. @throws ApiError as the shard registry does */
  locate(said: string): Awaitable<string | Located>;
  /** Resolves when all is known of a logical cluster, or of all of a shard (`*`). @returns `undefined` when it is */
  load(cluster: string): Promise<void> | undefined;
  /** The shard that answers for a logical cluster, or for all of them (`*`). @throws ApiError 503 when it does not run */
  shardOf(cluster: string): ServedShard;
  /** Whether a logical cluster is out of reach here. */
  isElsewhere(cluster: string): boolean;
  /** Resolves when there is something to serve. */
  readonly started: Promise<void>;
}

/** The logical clusters of one shard. */
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

/** Of all logical clusters at once nothing is known before all of them are. */
export function loaded({ context }: ServedShard, cluster: string): Promise<void> | undefined {
  if (cluster !== WILDCARD) return context.registry.load(cluster);
  return context.objects.isWhole ? undefined : context.objects.whole;
}

/** Answers when what it depends on is known: at once, if it is. */
export function whenLoaded<R>(loading: Promise<void> | undefined, answer: () => Awaitable<R>): Awaitable<R> {
  return loading === undefined ? answer() : loading.then(answer);
}
