import { type Merged, merged, type ServedResource, type ViewSource } from "@virtual-workspaces/framework";
import type { CacheLease, Scope, Storage } from "@virtual-workspaces/framework/storage";
import type { QueriedShards } from "./queried-shards.ts";

/** Parts of a {@link ShardedStorage}. */
export interface ShardedStorageOptions {
  /** The resource on each shard that has it, by the name of the shard. */
  readonly served: ReadonlyMap<string, ServedResource>;
  readonly shards: () => QueriedShards;
  /** Leases the cache of a resource. */
  readonly source: (served: ServedResource, scope: Scope) => Promise<CacheLease>;
  readonly onError: (error: unknown, shard: string) => void;
}

/** How often an open watch compares which shards are available, in ms. */
const LOOK = 1_000;

/**
 * Objects of a resource on several shards, as one collection with versions of its own. Objects of a shard that cannot be read stay as
 * last seen, and are missing if they were never read. {@link unavailable} names such shards.
 */
export class ShardedStorage implements Storage {
  readonly #merged: Merged;
  readonly #shards: () => QueriedShards;

  constructor({ served, shards, source, onError }: ShardedStorageOptions) {
    const [first] = served.values();
    if (first === undefined) throw new Error("a sharded storage needs a shard");
    this.#shards = shards;
    this.#merged = merged({
      resource: first.definition,
      sources: Object.fromEntries([...served].map(([name, one]) => [name, sourceOf(one, source)])),
      partial: "always",
      onError,
    });
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#merged.cache(scope);
  }

  shareKey(scope: Scope): string {
    return this.#merged.shareKey(scope);
  }

  /** Shards that run, sorted, whether or not they have the resource. */
  get names(): readonly string[] {
    return [...this.#shards().running.keys()].sort();
  }

  /** Shards whose objects may be missing or not up to date, sorted. */
  get unavailable(): readonly string[] {
    const failing = this.#merged.conditions.filter(({ status }) => status === "False").map(({ source }) => source);
    return [...new Set([...failing, ...this.#shards().missing])].sort();
  }

  /** Calls `changed` once the available shards are no longer those of now. */
  listen(changed: () => void): Disposable {
    const before = this.#text;
    const compare = (): void => {
      if (this.#text !== before) changed();
    };
    const listening = this.#shards().listen(compare);
    // Shards that run may fail, and recover.
    const timer = setInterval(compare, LOOK).unref();
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        listening[Symbol.dispose]();
      },
    };
  }

  get #text(): string {
    return JSON.stringify([[...this.#shards().running.keys()], this.unavailable]);
  }
}

function sourceOf(served: ServedResource, source: ShardedStorageOptions["source"]): ViewSource {
  const { definition, storage } = served;
  return {
    resource: definition,
    cache: (scope) => source(served, scope),
    shareKey: (scope) => {
      const { name, uid, groups, extra } = scope.identity;
      return storage.shareKey?.(scope) ?? JSON.stringify([name, uid, groups, extra]);
    },
  };
}
