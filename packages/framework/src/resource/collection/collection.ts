import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import type { CacheLease, Storage } from "../../storage.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { type HistoryOptions, WatchCache } from "../../watch/cache/watch-cache.ts";
import { CacheBackend } from "./cache-backend.ts";
import { Registry, type RegistryOptions } from "./registry.ts";

/** How a collection keeps its objects. */
export interface CollectionOptions extends RegistryOptions {
  /** How much of the past a client may resume from. */
  readonly history?: HistoryOptions;
}

/**
 * Objects of one kind in memory, over all logical clusters, with one line of versions. A change is an event in every
 * open watch before the call returns. It mints uid, resourceVersion, generation and creationTimestamp.
 */
export class Collection<T extends object = object> extends Registry<T, "now"> implements Storage<ObjectOf<T>> {
  readonly local = true;
  readonly #lease: CacheLease;

  constructor(resource: TypedDefinition<T>, options: CollectionOptions = {}) {
    const { history, ...others } = options;
    const cache = new WatchCache({
      version: processMinter.next(),
      minter: processMinter,
      ...(history === undefined ? {} : { history }),
    });
    super(resource, { ...others, keeper: new CacheBackend(cache, resource.selectableFields), when: "now" });
    this.#lease = { cache, confirm: () => undefined, [Symbol.dispose]: () => undefined };
  }

  cache(): CacheLease {
    return this.#lease;
  }
}
