import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Scope } from "@virtual-workspaces/framework/storage";

/** Functions that return the indexed values of an object, any number, by the name of the index. */
export type Indexers<T> = Readonly<Record<string, (object: T, key: ObjectKey) => readonly string[]>>;

/** Returns `<logical cluster>/<namespace>/<name>`. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

/** Returns the key of a text of {@link keyText}. */
export function keyFromText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

/** Returns the scope that collections expect. */
export function scopeOf({ cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">): Scope {
  return { cluster, namespace } as Scope;
}

/** One key or several: most entries have one, and a set for each would take ten times the memory. */
type KeySet = string | Set<string>;

/** Index of keys by the values of the indexers, and by logical cluster. */
export class KeyIndex<T> {
  readonly #indexers: readonly (readonly [string, Indexers<T>[string]])[];
  /** Keys by `<index> <value>`. */
  readonly #keys = new Map<string, KeySet>();
  readonly #clusters = new Map<string, KeySet>();
  /** Entries of each key, so that an update does not need the previous object. */
  readonly #entries = new Map<string, readonly string[]>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
  }

  /** Indexes a key again, or removes it without an object. @param read called only if there are indexers */
  set(text: string, read: (() => T) | undefined): void {
    for (const entry of this.#entries.get(text) ?? []) take(this.#keys, entry, text);
    this.#entries.delete(text);
    const cluster = text.slice(0, text.indexOf("/"));
    if (read === undefined) take(this.#clusters, cluster, text);
    else put(this.#clusters, cluster, text);
    if (read === undefined || this.#indexers.length === 0) return;
    const [key, object] = [keyFromText(text), read()];
    const entries = this.#indexers.flatMap(([name, values]) => values(object, key).map((value) => `${name} ${value}`));
    if (entries.length > 0) this.#entries.set(text, entries);
    for (const entry of entries) put(this.#keys, entry, text);
  }

  /** @throws Error on an unknown index */
  find(index: string, value: string): string[] {
    if (!this.#indexers.some(([name]) => name === index)) throw new Error(`unknown index ${JSON.stringify(index)}`);
    return listed(this.#keys.get(`${index} ${value}`));
  }

  /** Logical clusters with at least one object. */
  get clusters(): string[] {
    return [...this.#clusters.keys()];
  }

  inCluster(cluster: string): string[] {
    return listed(this.#clusters.get(cluster));
  }
}

function listed(keys: KeySet | undefined): string[] {
  if (keys === undefined) return [];
  return typeof keys === "string" ? [keys] : [...keys];
}

function put(map: Map<string, KeySet>, entry: string, text: string): void {
  const there = map.get(entry);
  if (there === undefined) map.set(entry, text);
  else if (typeof there !== "string") there.add(text);
  else if (there !== text) map.set(entry, new Set([there, text]));
}

function take(map: Map<string, KeySet>, entry: string, text: string): void {
  const there = map.get(entry);
  if (there === text) map.delete(entry);
  else if (there instanceof Set && there.delete(text) && there.size === 0) map.delete(entry);
}
