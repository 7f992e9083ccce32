import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import type { CacheLease, Storage } from "../../storage.ts";
import { type Encoded, encodeObject } from "../../watch/cache/encoded.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { type HistoryOptions, objectsIn, WatchCache } from "../../watch/cache/watch-cache.ts";
import { AuthorFields } from "./author-fields.ts";
import { CacheBackend } from "./cache-backend.ts";
import { MemoryPart } from "./memory-part.ts";
import { Registry, type RegistryOptions } from "./registry.ts";
import {
  type ReplacedPart,
  type ReplacedState,
  Replacement,
  type SourceObject,
  type WrittenObject,
} from "./replacement.ts";

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
  readonly #cache: WatchCache;
  readonly #lease: CacheLease;
  readonly #replacement: Replacement<T>;

  constructor(resource: TypedDefinition<T>, options: CollectionOptions = {}) {
    const { history, ...others } = options;
    const cache = new WatchCache({
      version: processMinter.next(),
      minter: processMinter,
      ...(history === undefined ? {} : { history }),
    });
    super(resource, { ...others, keeper: new CacheBackend(cache, resource.selectableFields), when: "now" });
    this.#cache = cache;
    this.#lease = { cache, confirm: () => undefined, [Symbol.dispose]: () => undefined };
    const { versions } = this;
    const { now = () => new Date() } = options;
    this.#replacement = new Replacement({ resource, versions, fields: new AuthorFields(resource), now });
  }

  override in(cluster: string, namespace = ""): MemoryPart<T> {
    return new MemoryPart<T>(this, this.partOf(cluster, namespace));
  }

  cache(): CacheLease {
    return this.#lease;
  }

  /** @internal As `MemoryPart.replace`, in all namespaces and logical clusters of the part. @returns the keys of the objects */
  replace(part: ReplacedPart, objects: Iterable<SourceObject<T>>, written?: WrittenObject): ReadonlySet<string> {
    return this.#apply(objects, { part, current: this.#objectsOf(part), written });
  }

  /** @internal Does the same for one key, which the source may not have. */
  replaceOne(key: ObjectKey, object: SourceObject<T> | undefined, written?: WrittenObject): void {
    const there = this.#cache.get(key);
    const { cluster, namespace } = key;
    const state = { part: { cluster, namespace }, current: there === undefined ? [] : [there], written };
    this.#apply(object === undefined ? [] : [object], state);
  }

  #apply(objects: Iterable<SourceObject<T>>, state: ReplacedState): ReadonlySet<string> {
    const { changes, given } = this.#replacement.plan(objects, state);
    for (const { key, object } of changes) {
      const version = processMinter.next();
      if (object === undefined) this.#cache.delete(key, version);
      else {
        const metadata = { ...object.metadata, resourceVersion: version };
        this.#cache.set(encodeObject({ ...object, metadata }, key.cluster, this.resource.selectableFields));
      }
    }
    return given;
  }

  *#objectsOf({ cluster, namespace }: ReplacedPart): Generator<Encoded> {
    const place = { cluster: cluster === "*" ? "" : cluster, namespace };
    for (const object of objectsIn(this.#cache.snapshot().objects, place))
      if (cluster === "*" || object.key.cluster === cluster) yield object;
  }
}
