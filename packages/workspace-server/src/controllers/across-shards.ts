import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client";
import type { ShardContext } from "../state/context.ts";
import type { Installation } from "../state/shard-registry.ts";

/** Objects of a kind on all shards, as one source. When a shard joins its objects are added, when it leaves they are only gone. */
export class AcrossShards<T extends KubeObject> implements Source<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T>;
  readonly #installation: Installation;
  readonly #of: (shard: ShardContext) => Source<T>;

  /** @param of where a shard has them. Shards that are not synced do not hold the others up: they are told of later */
  constructor(installation: Installation, of: (shard: ShardContext) => Source<T>) {
    this.#installation = installation;
    this.#of = of;
    this.synced = Promise.resolve();
    const sources = (): readonly Source<T>[] => installation.shards.map(of);
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
    return this.#installation.eachShard((shard) => this.#of(shard).on(handlers));
  }
}

/** A source that leaves out changes of what does not matter. @param matters whether one does */
export function heeding<T extends KubeObject>(
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
