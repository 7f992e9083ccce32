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

/** Maximum of parsed objects in the cache. */
const KEPT = 1_024;

/** Cache of parsed objects, with the most recently used ones. */
export class DecodedObjects<T extends KubeObject> {
  readonly #objects = new Map<Encoded, T>();

  /** Returns the parsed object, which all readers share. */
  of(encoded: Encoded): T {
    const known = this.#objects.get(encoded);
    const object = known ?? decodeObject<T>(encoded);
    if (known !== undefined) this.#objects.delete(encoded);
    this.#objects.set(encoded, object);
    if (this.#objects.size > KEPT) this.#objects.delete(this.#objects.keys().next().value as Encoded);
    return object;
  }

  /** Drops a deleted object: its bytes would retain the whole chunk in which it was read. */
  forget(encoded: Encoded): void {
    this.#objects.delete(encoded);
  }
}
