import { isDeepStrictEqual } from "node:util";
import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Keyed, Source, SourceHandlers, SourceOptions, SourceStore } from "@virtual-workspaces/client/queue";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** Source of a kind's objects on all shards. A joining shard adds its objects; a leaving shard causes no delete events. */
export class AllShardsSource<T extends KubeObject> implements Source<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T>;
  readonly #registry: ShardRegistry;
  readonly #of: (shard: ShardPeer) => Source<T>;

  /** @param of returns a shard's source. Unsynced shards do not delay the others; their objects are added later */
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

  on(handlers: SourceHandlers<T>, options?: SourceOptions): Disposable {
    return this.#registry.eachShard((shard) => this.#of(shard).on(handlers, options));
  }
}

/**
 * Wraps a source so that irrelevant updates are dropped.
 *
 * @param matters reports whether an update is relevant. If it throws, the update is kept, and the reconcile reports the error
 * @param needs reports the same of an object that exists at the start or is new. @default all are relevant
 */
export function filterUpdates<T extends KubeObject>(
  source: Source<T>,
  matters: (object: T, before: T) => boolean,
  needs: (object: T, key: ObjectKey) => boolean = () => true,
): Source<T> {
  return {
    synced: source.synced,
    store: source.store,
    on: (handlers, options) =>
      source.on(
        {
          ...handlers,
          ...(handlers.added && {
            added: (object, event) => {
              if (isTrueOrThrows(() => needs(object, event.key))) handlers.added?.(object, event);
            },
          }),
          updated: (object, before, event) => {
            if (isTrueOrThrows(() => matters(object, before))) handlers.updated?.(object, before, event);
          },
        },
        options,
      ),
  };
}

/** Wraps a source whose initial objects cause nothing, because what depends on them reads them anyway. */
export function withoutInitial<T extends KubeObject>(source: Source<T>): Source<T> {
  return {
    synced: source.synced,
    store: source.store,
    on: (handlers) =>
      source.on(
        {
          ...handlers,
          added: (object, event) => {
            if (event.initial !== true) handlers.added?.(object, event);
          },
        },
        { existing: "none" },
      ),
  };
}

/**
 * Wraps a controller's own source so that an object is queued only in a state that needs a reconcile: most controllers of
 * LogicalClusters have work in one state of many. Deletions are kept.
 *
 * @param needs reports whether the controller has work for the object. If it throws, the object is queued, and the
 * reconcile reports the error
 */
export function filterStates<T extends KubeObject>(
  source: Source<T>,
  needs: (object: T, key: ObjectKey) => boolean,
): Source<T> {
  const isNeeded = (object: T, { key }: Keyed): boolean => isTrueOrThrows(() => needs(object, key));
  return {
    synced: source.synced,
    store: source.store,
    on: (handlers, options) =>
      source.on(
        {
          ...handlers,
          added: (object, event) => {
            if (isNeeded(object, event)) handlers.added?.(object, event);
          },
          updated: (object, before, event) => {
            if (isNeeded(object, event)) handlers.updated?.(object, before, event);
          },
        },
        options,
      ),
  };
}

function isTrueOrThrows(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return true;
  }
}

/**
 * Calls back when an object is added, deleted or changed in a relevant field, but not for the initial objects. A
 * controller that depends on them reconciles its own objects once at startup anyway.
 */
export function follow<T extends KubeObject>(
  source: Source<T>,
  changed: (object: T, key: ObjectKey) => void,
  counts: (object: T) => unknown = (object) => object.metadata.resourceVersion,
): Disposable {
  return withoutInitial(source).on({
    added: (object, { key }) => changed(object, key),
    updated: (object, before, { key }) => {
      if (!isDeepStrictEqual(counts(object), counts(before))) changed(object, key);
    },
    deleted: (object, { key }) => changed(object, key),
  });
}
