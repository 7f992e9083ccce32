import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Scope } from "@virtual-workspaces/framework/storage";

/** The values that objects are indexed by: any number for each object, by the name of the index. */
export type Indexers<T> = Readonly<Record<string, (object: T, key: ObjectKey) => readonly string[]>>;

/** `<logical cluster>/<namespace>/<name>`. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}

/** The key that {@link keyText} made a text of. */
export function keyFromText(text: string): ObjectKey {
  const [cluster = "", namespace = "", name = ""] = text.split("/");
  return { cluster, namespace, name };
}

/** The parts of a scope that collections look at. */
export function scopeOf({ cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">): Scope {
  return { cluster, namespace } as Scope;
}

/** Most entries have one key: a set for each would take ten times as much memory. */
type KeySet = string | Set<string>;

/** The keys of objects by the values of the indexers, and by logical cluster. */
export class KeyIndex<T> {
  readonly #indexers: readonly (readonly [string, Indexers<T>[string]])[];
  /** By `<index> <value>`. */
  readonly #keys = new Map<string, KeySet>();
  readonly #clusters = new Map<string, KeySet>();
  /** The entries of each key: an object that changes is not asked for its former values. */
  readonly #entries = new Map<string, readonly string[]>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
  }

  /** Indexes a key anew; without an object it is taken out. @param read called only where there are indexers */
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
