import { isDeepStrictEqual } from "node:util";
import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client/queue";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** Objects of a kind on all shards, as one source. When a shard joins its objects are added, when it leaves they are only gone. */
export class AllShardsSource<T extends KubeObject> implements Source<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T>;
  readonly #registry: ShardRegistry;
  readonly #of: (shard: ShardPeer) => Source<T>;

  /** @param of where a shard has them. Shards that are not synced do not hold the others up: they are told of later */
  constructor(registry: ShardRegistry, of: (shard: ShardPeer) => Source<T>) {
    this.#registry = registry;
    this.#of = of;
    this.synced = Promise.resolve();
    const sources = (): readonly Source<T>[] => registry.shards.map(of);
    this.store = {
      get(key: ObjectKey) {
        for (const { store } of sources()) {
          const object = store.get(key);
          if (object !== undefined) return object;
        }
        return undefined;
      },
      list: () => sources().flatMap(({ store }) => [...store.list()]),
    };
  }

  on(handlers: SourceHandlers<T>): Disposable {
    return this.#registry.eachShard((shard) => this.#of(shard).on(handlers));
  }
}

/** A source that leaves out changes of what does not matter. @param matters whether one does */
export function filterUpdates<T extends KubeObject>(
  source: Source<T>,
  matters: (object: T, before: T) => boolean,
): Source<T> {
  return {
    synced: source.synced,
    store: source.store,
    on: (handlers) =>
      source.on({
        ...handlers,
        updated: (object, before, event) => {
          if (matters(object, before)) handlers.updated?.(object, before, event);
        },
      }),
  };
}

/**
 * Calls back for objects that are there, that come, that go, and that change in what counts. Not for those that have been there
 * all along and come to be known: whoever looks at other objects for their sake looks at each of these once, then.
 */
export function follow<T extends KubeObject>(
  source: Source<T>,
  changed: (object: T, key: ObjectKey) => void,
  counts: (object: T) => unknown = (object) => object.metadata.resourceVersion,
): Disposable {
  return source.on({
    added: (object, { key, initial }) => {
      if (initial !== true) changed(object, key);
    },
    updated: (object, before, { key }) => {
      if (!isDeepStrictEqual(counts(object), counts(before))) changed(object, key);
    },
    deleted: (object, { key }) => changed(object, key),
  });
}
