import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { objectsIn } from "../watch/cache/objects.ts";
import type { ReadableCache } from "../watch/cache/readable-cache.ts";

/** A source as `select` and `map` read it: parsed once per version, never to be changed. */
export interface Reader<T extends object> {
  /** The object of that name, `undefined` when there is none; a cluster-scoped one is found from any namespace. */
  get(name: string, at?: ReaderPlace): Readonly<ObjectOf<T>> | undefined;
  /** All objects of a place, by namespace and name. */
  list(at?: ReaderPlace): readonly Readonly<ObjectOf<T>>[];
}

/** Where a reader looks. */
export interface ReaderPlace {
  /** @default the logical cluster of the object being looked at */
  readonly cluster?: string;
  /** @default for `get` the namespace of the object being looked at, for `list` all */
  readonly namespace?: string;
}

/** Reads a cache on behalf of one object after another. */
export class CacheReader<T extends object> implements Reader<T> {
  readonly #cache: ReadableCache;
  readonly #here: () => Required<ReaderPlace>;
  readonly #parsed = new WeakMap<Encoded, ObjectOf<T>>();

  constructor(cache: ReadableCache, here: () => Required<ReaderPlace>) {
    this.#cache = cache;
    this.#here = here;
  }

  get(name: string, at: ReaderPlace = {}): ObjectOf<T> | undefined {
    const found =
      this.#cache.get({ ...this.#here(), ...at, name }) ??
      this.#cache.get({ ...this.#here(), namespace: "", ...at, name });
    return found === undefined ? undefined : this.#parse(found);
  }

  list(at: ReaderPlace = {}): ObjectOf<T>[] {
    const place = { cluster: at.cluster ?? this.#here().cluster, namespace: at.namespace ?? "" };
    return Array.from(objectsIn(this.#cache.snapshot().objects, place), (encoded) => this.#parse(encoded));
  }

  #parse(encoded: Encoded): ObjectOf<T> {
    let object = this.#parsed.get(encoded);
    if (object === undefined) {
      object = decodeObject<ObjectOf<T>>(encoded);
      this.#parsed.set(encoded, object);
    }
    return object;
  }
}
