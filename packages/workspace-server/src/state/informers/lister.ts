import type { KubeObject, ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { SourceStore } from "@virtual-workspaces/client";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework";
import { type KeyIndex, keyFromText, keyText } from "./key-index.ts";

/** What is known of the objects of a kind. They are shared by all who read them: never change one. */
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
  /** How many objects an index finds by a text. */
  countBy(index: string, value: string): number;
  /** The keys of the objects that an index finds by a text. */
  keysBy(index: string, value: string): ObjectKey[];
  /** The objects themselves. */
  by(index: string, value: string): ObjectOf<T>[];
}

/** What it is read from, as it is at any time. */
export interface ListerParts<T extends object> {
  readonly told: ReadonlyMap<string, Encoded>;
  readonly filed: KeyIndex<ObjectOf<T>>;
  readonly decoded: DecodedObjects<ObjectOf<T>>;
}

/** What is known of the objects of a kind, to read. */
export function listerOver<T extends object>({ told, filed, decoded }: ListerParts<T>): Lister<T> {
  const read = (text: string): ObjectOf<T> | undefined => {
    const object = told.get(text);
    return object && decoded.of(object);
  };
  return {
    get size() {
      return told.size;
    },
    has: (key) => told.has(keyText(key)),
    get: (key) => read(keyText(key)),
    list: (cluster) => {
      const texts = cluster === undefined ? [...told.keys()] : filed.inCluster(cluster);
      return texts.map((text) => read(text) as ObjectOf<T>);
    },
    clusters: () => filed.clusters,
    keysIn: (cluster) => filed.inCluster(cluster).map(keyFromText),
    countBy: (index, value) => filed.find(index, value).length,
    keysBy: (index, value) => filed.find(index, value).map(keyFromText),
    by: (index, value) => filed.find(index, value).map((text) => read(text) as ObjectOf<T>),
  };
}

/** How many objects are kept parsed, the last that were read. */
const KEPT = 1_024;

/** Objects parsed when they are read: those that are read again and again need not be each time. */
export class DecodedObjects<T extends KubeObject> {
  readonly #objects = new Map<Encoded, T>();

  /** Shared by all who ask. */
  of(encoded: Encoded): T {
    const known = this.#objects.get(encoded);
    const object = known ?? decodeObject<T>(encoded);
    if (known !== undefined) this.#objects.delete(encoded);
    this.#objects.set(encoded, object);
    if (this.#objects.size > KEPT) this.#objects.delete(this.#objects.keys().next().value as Encoded);
    return object;
  }

  /** Of one that is no more: it would hold on to what was read together with it. */
  forget(encoded: Encoded): void {
    this.#objects.delete(encoded);
  }
}
