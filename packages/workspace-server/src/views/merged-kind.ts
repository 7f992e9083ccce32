import { type ObjectOf, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type Merged, merged, type TypedDefinition, type ViewSource } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Awaitable, CacheLease, Scope, Storage } from "@virtual-workspaces/framework/storage";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** What is read of all shards. */
export interface MergedKindOptions<T extends object> {
  readonly resource: TypedDefinition<T>;
  /** What a shard has of it. @default its objects */
  readonly sourceOf?: (shard: ShardPeer) => ViewSource<T>;
  readonly log: Log;
}

/** A kind of all shards. It ends with the server. */
export interface MergedKind<T extends object> extends Disposable {
  readonly objects: Merged<T>;
}

/**
 * The objects of a kind as all shards of the process have them: one collection, with versions of its own, for whoever may
 * see all of them. A shard that cannot be read is named in a warning, and one that ends is no deletion: its objects stay as
 * they were last seen, until there is one of its name again.
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
      log({ level: "error", message: "shard cannot be read", shard, resource: resource.plural, error: String(error) }),
  });
  const following = registry.eachShard((shard) => {
    all.setSource(shard.name, sourceOf(shard));
    return { [Symbol.dispose]: () => undefined };
  });
  return { objects: all, [Symbol.dispose]: () => following[Symbol.dispose]() };
}

/** Objects of all logical clusters, read as one stream whichever of these is asked for: what they are is worked out once. */
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
