import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { SelectableField } from "../../definition.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { type Encoded, encodeObject } from "../../watch/cache/encoded.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { objectsIn, type WatchCache } from "../../watch/cache/watch-cache.ts";

/** Objects that are nowhere but in a watch cache: a change is told before it is acknowledged. */
export class CacheBackend implements ObjectBackend {
  readonly #cache: WatchCache;
  readonly #selectable: readonly SelectableField[];

  constructor(cache: WatchCache, selectable: readonly SelectableField[]) {
    this.#cache = cache;
    this.#selectable = selectable;
  }

  get(key: ObjectKey): Encoded | undefined {
    return this.#cache.get(key);
  }

  *all(part: Omit<ObjectKey, "name">): Generator<Encoded> {
    for (const object of objectsIn(this.#cache.snapshot().objects, part)) {
      if (object.key.cluster === part.cluster) yield object;
    }
  }

  swap(key: ObjectKey, next: KubeObject | undefined, { version, most }: SwapTerms): Swapped {
    const current = this.#cache.get(key);
    if ((current?.resourceVersion ?? "") !== version) return { kind: "stale", current };
    const minted = processMinter.next();
    if (next === undefined) {
      this.#cache.delete(key, minted);
      return { kind: "done", version: minted, object: undefined };
    }
    const metadata = { ...next.metadata, resourceVersion: minted };
    const object = encodeObject({ ...next, metadata }, key.cluster, this.#selectable);
    if (object.bytes.length > most) return { kind: "large", length: object.bytes.length };
    this.#cache.set(object);
    return { kind: "done", version: minted, object };
  }
}

/** On what terms an object is swapped for another. */
export interface SwapTerms {
  /** The resource version at which the key must stand; "": there must be nothing. */
  readonly version: string;
  /** How many bytes the new object may have. */
  readonly most: number;
}

/** How a swap went. */
export type Swapped =
  /** Done, at a version; `object` as it is kept now, `undefined` when it was removed. */
  | { readonly kind: "done"; readonly version: string; readonly object: Encoded | undefined }
  /** The key stands at another version. Nothing was done. */
  | { readonly kind: "stale"; readonly current: Encoded | undefined }
  /** It would have more bytes than it may. Nothing was done. */
  | { readonly kind: "large"; readonly length: number };

/** Where the objects of a kind are: one under each key, at a resource version that the keeper mints. */
export interface ObjectBackend {
  /** What is there now, no staler. */
  get(key: ObjectKey): Awaitable<Encoded | undefined>;
  /** All of one logical cluster ("" where paths have none) and, for namespaced kinds, one namespace, by name. */
  all(part: Omit<ObjectKey, "name">): Awaitable<Iterable<Encoded>>;
  /** Puts an object in the place of another, `undefined` to remove it. The version that `next` names is not looked at. */
  swap(key: ObjectKey, next: KubeObject | undefined, terms: SwapTerms): Awaitable<Swapped>;
}
