import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import type { CacheLease, Storage } from "../../storage.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { type HistoryOptions, WatchCache } from "../../watch/cache/watch-cache.ts";
import { CacheBackend } from "./cache-backend.ts";
import { Registry, type RegistryOptions } from "./registry.ts";

/** Options of a collection. */
export interface CollectionOptions extends RegistryOptions {
  /** Limits of the history from which clients can resume. */
  readonly history?: HistoryOptions;
}

/**
 * Objects of one kind in memory, over all logical clusters, with one line of versions. Open watches get the event of a change
 * before the call returns. It sets uid, resourceVersion, generation and creationTimestamp.
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
