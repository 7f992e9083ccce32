import { type ObjectOf, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type Merged, merged, type TypedDefinition, type ViewSource } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable, CacheLease, Scope, Storage } from "@virtual-workspaces/framework/storage";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** Kind to read on all shards. */
export interface MergedKindOptions<T extends object> {
  readonly resource: TypedDefinition<T>;
  /** Returns a shard's objects of the kind. @default all of them */
  readonly sourceOf?: (shard: ShardPeer) => ViewSource<T>;
  readonly log: Log;
}

/** A kind over all shards. It closes with the server. */
export interface MergedKind<T extends object> extends Disposable {
  readonly objects: Merged<T>;
}

/**
 * Merges the objects of a kind on all shards of the process into one collection with its own versions, for readers with
 * access to all. A warning names a shard that cannot be read. The objects of a closed shard stay as last seen, without
 * deletions, until a shard of that name returns.
 */
export function mergedKind<T extends object>(
  registry: ShardRegistry,
  { resource, log, sourceOf = ({ objects }) => objects.of(resource) }: MergedKindOptions<T>,
): MergedKind<T> {
  const all = merged<T>({
    sources: {},
    resource,
    shareKey: () => "",
    onError: (error, shard) =>
      log({ level: "error", message: "failed to read shard", shard, resource: resource.plural, error: String(error) }),
  });
  const following = registry.eachShard((shard) => {
    all.setSource(shard.name, sourceOf(shard));
    return { [Symbol.dispose]: () => undefined };
  });
  return { objects: all, [Symbol.dispose]: () => following[Symbol.dispose]() };
}

/** Reads objects of all logical clusters as one stream for any request, so that they are computed once. */
export class ReadWhole<T extends object> implements Storage<ObjectOf<T>> {
  readonly #source: ViewSource<T>;

  constructor(source: ViewSource<T>) {
    this.#source = source;
  }

  cache(scope: Scope): Awaitable<CacheLease> {
    return this.#source.cache(whole(scope));
  }

  shareKey(scope: Scope): string | undefined {
    return this.#source.shareKey?.(whole(scope));
  }
}

function whole(scope: Scope): Scope {
  return { ...scope, cluster: WILDCARD, params: { ...scope.params, cluster: WILDCARD } };
}
