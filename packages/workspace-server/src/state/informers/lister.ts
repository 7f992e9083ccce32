import type { KubeObject, ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { SourceStore } from "@virtual-workspaces/client/queue";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { type KeyIndex, keyFromText, keyText } from "./key-index.ts";

/** Objects of a kind that an informer knows. All readers share them: do not modify one. */
export interface Lister<T extends object> extends SourceStore<ObjectOf<T>> {
  readonly size: number;
  /** Whether the object exists; parses nothing. */
  has(key: ObjectKey): boolean;
  /** Returns all objects, or those of a logical cluster, in no particular order. */
  list(cluster?: string): ObjectOf<T>[];
  /** Returns the logical clusters with at least one object. */
  clusters(): string[];
  /** Returns the keys of the objects of a logical cluster. */
  keysIn(cluster: string): ObjectKey[];
  /** Returns the number of objects with an indexed value. */
  countBy(index: string, value: string): number;
  /** Returns the keys of objects with an indexed value. */
  keysBy(index: string, value: string): ObjectKey[];
  /** Returns the objects with an indexed value. */
  by(index: string, value: string): ObjectOf<T>[];
}

/** Sources of a lister. */
interface ListerParts<T extends object> {
  readonly objects: ReadonlyMap<string, Encoded>;
  readonly index: KeyIndex<ObjectOf<T>>;
  readonly decoded: DecodedObjects<ObjectOf<T>>;
}

/** Returns a live lister over the objects of an informer. */
export function listerOver<T extends object>({ objects, index, decoded }: ListerParts<T>): Lister<T> {
  const read = (text: string): ObjectOf<T> | undefined => {
    const object = objects.get(text);
    return object && decoded.of(object);
  };
  return {
    get size() {
      return objects.size;
    },
    has: (key) => objects.has(keyText(key)),
    get: (key) => read(keyText(key)),
    list: (cluster) => {
      const texts = cluster === undefined ? [...objects.keys()] : index.inCluster(cluster);
      return texts.map((text) => read(text) as ObjectOf<T>);
    },
    clusters: () => index.clusters,
    keysIn: (cluster) => index.inCluster(cluster).map(keyFromText),
    countBy: (name, value) => index.find(name, value).length,
    keysBy: (name, value) => index.find(name, value).map(keyFromText),
    by: (name, value) => index.find(name, value).map((text) => read(text) as ObjectOf<T>),
  };
}

/** Number of parsed objects in each of two generations. */
const KEPT = 512;
/** Time after which a generation ends, in milliseconds. */
const UNUSED = 10_000;

/**
 * Cache of parsed objects, with those used recently: an older and a younger generation, since a Map that often drops its
 * first entry is slow. Objects that are not used for ten to twenty seconds are dropped, so a resting server keeps none.
 */
export class DecodedObjects<T extends KubeObject> implements Disposable {
  #young = new Map<Encoded, T>();
  #old = new Map<Encoded, T>();
  readonly #unused: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param unused shortest time after which an unused object is dropped, in milliseconds */
  constructor(unused: number = UNUSED) {
    this.#unused = unused;
  }

  /** Number of parsed objects. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Returns the parsed object, which all readers share. */
  of(encoded: Encoded): T {
    const known = this.#young.get(encoded);
    if (known !== undefined) return known;
    const object = this.#old.get(encoded) ?? decodeObject<T>(encoded);
    if (this.#young.size >= KEPT) this.#turn();
    this.#young.set(encoded, object);
    this.#timer ??= setInterval(() => this.#rest(), this.#unused).unref();
    return object;
  }

  /** Drops a deleted object: its bytes would retain the whole chunk in which it was read. */
  forget(encoded: Encoded): void {
    this.#young.delete(encoded);
    this.#old.delete(encoded);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #turn(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }

  #rest(): void {
    this.#turn();
    if (this.#old.size === 0) this[Symbol.dispose]();
  }
}
