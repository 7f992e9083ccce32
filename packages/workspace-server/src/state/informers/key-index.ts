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

/** One key, a few, or many: most entries have one or two, and a set for each would take ten times the memory. */
type KeySet = string | readonly string[] | Set<string>;
/** Maximum of keys in a list. */
const FEW = 8;

/** Index of keys by the values of the indexers, and by logical cluster. */
export class KeyIndex<T> {
  readonly #indexers: readonly (readonly [string, Indexers<T>[string]])[];
  /** Keys by `<index> <value>`. */
  readonly #keys = new Map<string, KeySet>();
  readonly #clusters = new Map<string, KeySet>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
  }

  /**
   * Indexes a key again, or removes it.
   *
   * @param text of {@link keyText}
   * @param objects the indexed object and the new one, `undefined` if there is none; called only if there are indexers
   */
  set(key: ObjectKey, text: string, { before, now }: IndexedObjects<T>): void {
    const isIndexed = this.#indexers.length > 0;
    const [old, entries] = isIndexed ? [this.#entriesOf(key, before), this.#entriesOf(key, now)] : [[], []];
    if (now === undefined) take(this.#clusters, key.cluster, text);
    else put(this.#clusters, key.cluster, text);
    for (const entry of old) if (!entries.includes(entry)) take(this.#keys, entry, text);
    for (const entry of entries) put(this.#keys, entry, text);
  }

  #entriesOf(key: ObjectKey, read: (() => T) | undefined): string[] {
    if (read === undefined) return [];
    const object = read();
    return this.#indexers.flatMap(([name, values]) => values(object, key).map((value) => `${name} ${value}`));
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

/** An object before and after a change. */
interface IndexedObjects<T> {
  readonly before: (() => T) | undefined;
  readonly now: (() => T) | undefined;
}

function listed(keys: KeySet | undefined): string[] {
  if (keys === undefined) return [];
  return typeof keys === "string" ? [keys] : [...keys];
}

function put(map: Map<string, KeySet>, entry: string, text: string): void {
  const there = map.get(entry);
  if (there === undefined) map.set(entry, text);
  else if (there instanceof Set) there.add(text);
  else {
    const before = listed(there);
    if (before.includes(text)) return;
    // A copy of this length: a list that has grown has room for 17.
    const all = [...before, text];
    map.set(entry, all.length > FEW ? new Set(all) : all);
  }
}

function take(map: Map<string, KeySet>, entry: string, text: string): void {
  const there = map.get(entry);
  if (there instanceof Set) {
    if (there.delete(text) && there.size === 0) map.delete(entry);
    return;
  }
  const [one, ...others] = listed(there).filter((each) => each !== text);
  if (one === undefined) map.delete(entry);
  else map.set(entry, others.length === 0 ? one : [one, ...others]);
}
