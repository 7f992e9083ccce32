import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** What objects are found by: any number of texts for each, by the index's name. */
export type Indexers<T> = Readonly<Record<string, (object: T, key: ObjectKey) => readonly string[]>>;

/** `<logical cluster>/<namespace>/<name>`. */
export function textOfKey({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

/** What {@link textOfKey} made a text of. */
export function keyOfText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

const NONE: ReadonlySet<string> = new Set();

/** Keys by what indexers say of their objects, and by logical cluster. */
export class FiledKeys<T> {
  readonly #indexers: readonly (readonly [string, Indexers<T>[string]])[];
  /** By `<index> <value>`. */
  readonly #keys = new Map<string, Set<string>>();
  /** Where each key was filed: an object that changes is not asked what it was. */
  readonly #places = new Map<string, readonly string[]>();

  constructor(indexers: Indexers<T>) {
    const byCluster = (_: T, { cluster }: ObjectKey): readonly string[] => [cluster];
    this.#indexers = [["", byCluster], ...Object.entries(indexers)];
  }

  /** Files a key anew; without an object it is taken out. */
  file(text: string, object: T | undefined): void {
    for (const place of this.#places.get(text) ?? []) this.#take(place, text);
    this.#places.delete(text);
    if (object === undefined) return;
    const key = keyOfText(text);
    const places = this.#indexers.flatMap(([name, values]) => values(object, key).map((value) => `${name} ${value}`));
    this.#places.set(text, places);
    for (const place of places) {
      const there = this.#keys.get(place);
      if (there === undefined) this.#keys.set(place, new Set([text]));
      else there.add(text);
    }
  }

  /** @throws Error when there is no such index: a slip of ours */
  find(index: string, value: string): ReadonlySet<string> {
    if (!this.#indexers.some(([name]) => name === index)) throw new Error(`there is no index ${JSON.stringify(index)}`);
    return this.#keys.get(`${index} ${value}`) ?? NONE;
  }

  inCluster(cluster: string): string[] {
    return [...this.find("", cluster)];
  }

  #take(place: string, text: string): void {
    const there = this.#keys.get(place);
    there?.delete(text);
    if (there?.size === 0) this.#keys.delete(place);
  }
}
