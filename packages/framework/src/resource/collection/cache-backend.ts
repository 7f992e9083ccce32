import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { SelectableField } from "../../definition.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { type Encoded, encodeObject } from "../../watch/cache/encoded.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { objectsIn, type WatchCache } from "../../watch/cache/watch-cache.ts";

/** Objects that only a watch cache holds. Watches receive a change before the writer is answered. */
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

/** Conditions under which one object replaces another. */
export interface SwapTerms {
  /** Expected resource version of the key; "" expects that there is no object. */
  readonly version: string;
  /** Maximum size of the new object, in bytes. */
  readonly most: number;
}

/** Result of a swap. */
export type Swapped =
  /** Swapped, at a version. `object` is the stored object, or `undefined` when it was removed. */
  | { readonly kind: "done"; readonly version: string; readonly object: Encoded | undefined }
  /** Rejected: the key is at another version. */
  | { readonly kind: "stale"; readonly current: Encoded | undefined }
  /** Rejected: the new object is larger than allowed. */
  | { readonly kind: "large"; readonly length: number };

/** Store of the objects of one kind, one object per key. The backend assigns resource versions. */
export interface ObjectBackend {
  /** Returns the current object, never a stale one. */
  get(key: ObjectKey): Awaitable<Encoded | undefined>;
  /** Returns all objects of one logical cluster ("" where paths have none) and, for namespaced kinds, one namespace, by name. */
  all(part: Omit<ObjectKey, "name">): Awaitable<Iterable<Encoded>>;
  /** Replaces an object, or removes it when `next` is `undefined`. Ignores the version in `next`. */
  swap(key: ObjectKey, next: KubeObject | undefined, terms: SwapTerms): Awaitable<Swapped>;
}
