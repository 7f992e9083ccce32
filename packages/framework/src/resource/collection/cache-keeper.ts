import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Encoded, encodeObject, type SelectableField } from "../../watch/cache/encoded.ts";
import type { WatchCache } from "../../watch/cache/cache.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { objectsIn } from "../../watch/cache/objects.ts";
import type { Keeper, Swapped, SwapTerms } from "./keeper.ts";

/** Objects that are nowhere but in a watch cache: a change is told before it is acknowledged. */
export class CacheKeeper implements Keeper {
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
