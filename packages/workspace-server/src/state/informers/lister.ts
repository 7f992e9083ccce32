import type { KubeObject, ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { SourceStore } from "@virtual-workspaces/client/queue";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { type KeyIndex, keyFromText, keyText } from "./key-index.ts";

/** The objects of a kind that an informer knows. All readers share them: never change one. */
export interface Lister<T extends object> extends SourceStore<ObjectOf<T>> {
  readonly size: number;
  /** Whether there is one; nothing is parsed. */
  has(key: ObjectKey): boolean;
  /** All objects, or those of a logical cluster, in no order. */
  list(cluster?: string): ObjectOf<T>[];
  /** The logical clusters that have any. */
  clusters(): string[];
  /** The keys of the objects of a logical cluster. */
  keysIn(cluster: string): ObjectKey[];
  /** How many objects an index has under a value. */
  countBy(index: string, value: string): number;
  /** The keys of the objects that an index has under a value. */
  keysBy(index: string, value: string): ObjectKey[];
  /** The objects themselves. */
  by(index: string, value: string): ObjectOf<T>[];
}

/** What a lister reads. */
interface ListerParts<T extends object> {
  readonly objects: ReadonlyMap<string, Encoded>;
  readonly index: KeyIndex<ObjectOf<T>>;
  readonly decoded: DecodedObjects<ObjectOf<T>>;
}

/** A lister over the objects of an informer, as they are at any time. */
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

/** How many objects are kept parsed, the last that were read. */
const KEPT = 1_024;

/** A cache of parsed objects: an object is parsed when it is read, and not again while it is read often. */
export class DecodedObjects<T extends KubeObject> {
  readonly #objects = new Map<Encoded, T>();

  /** The parsed object. All readers share it. */
  of(encoded: Encoded): T {
    const known = this.#objects.get(encoded);
    const object = known ?? decodeObject<T>(encoded);
    if (known !== undefined) this.#objects.delete(encoded);
    this.#objects.set(encoded, object);
    if (this.#objects.size > KEPT) this.#objects.delete(this.#objects.keys().next().value as Encoded);
    return object;
  }

  /** Drops an object that is gone: it would keep in memory whatever was read together with it. */
  forget(encoded: Encoded): void {
    this.#objects.delete(encoded);
  }
}
