import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Scope } from "@virtual-workspaces/framework";

/** What objects are found by: any number of texts for each, by the index's name. */
export type Indexers<T> = Readonly<Record<string, (object: T, key: ObjectKey) => readonly string[]>>;

/** `<logical cluster>/<namespace>/<name>`. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

/** What {@link keyText} made a text of. */
export function keyFromText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

/** The parts of a scope that collections look at. */
export function scopeOf({ cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">): Scope {
  return { cluster, namespace } as Scope;
}

/** Most places have one key: a set for each would take ten times as much memory. */
type KeySet = string | Set<string>;

/** Keys by what indexers say of their objects, and by logical cluster. */
export class KeyIndex<T> {
  readonly #indexers: readonly (readonly [string, Indexers<T>[string]])[];
  /** By `<index> <value>`. */
  readonly #keys = new Map<string, KeySet>();
  readonly #clusters = new Map<string, KeySet>();
  /** Where each key was filed: an object that changes is not asked what it was. */
  readonly #places = new Map<string, readonly string[]>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
  }

  /** Files a key anew; without an object it is taken out. @param read asked where there are indexers alone */
  file(text: string, read: (() => T) | undefined): void {
    for (const place of this.#places.get(text) ?? []) take(this.#keys, place, text);
    this.#places.delete(text);
    const cluster = text.slice(0, text.indexOf("/"));
    if (read === undefined) take(this.#clusters, cluster, text);
    else put(this.#clusters, cluster, text);
    if (read === undefined || this.#indexers.length === 0) return;
    const [key, object] = [keyFromText(text), read()];
    const places = this.#indexers.flatMap(([name, values]) => values(object, key).map((value) => `${name} ${value}`));
    if (places.length > 0) this.#places.set(text, places);
    for (const place of places) put(this.#keys, place, text);
  }

  /** @throws Error when there is no such index: a slip of ours */
  find(index: string, value: string): string[] {
    if (!this.#indexers.some(([name]) => name === index)) throw new Error(`there is no index ${JSON.stringify(index)}`);
    return listed(this.#keys.get(`${index} ${value}`));
  }

  /** The logical clusters that have any. */
  get clusters(): string[] {
    return [...this.#clusters.keys()];
  }

  inCluster(cluster: string): string[] {
    return listed(this.#clusters.get(cluster));
  }
}

function listed(filed: KeySet | undefined): string[] {
  if (filed === undefined) return [];
  return typeof filed === "string" ? [filed] : [...filed];
}

function put(filed: Map<string, KeySet>, place: string, text: string): void {
  const there = filed.get(place);
  if (there === undefined) filed.set(place, text);
  else if (typeof there !== "string") there.add(text);
  else if (there !== text) filed.set(place, new Set([there, text]));
}

function take(filed: Map<string, KeySet>, place: string, text: string): void {
  const there = filed.get(place);
  if (there === text) filed.delete(place);
  else if (there instanceof Set && there.delete(text) && there.size === 0) filed.delete(place);
}
