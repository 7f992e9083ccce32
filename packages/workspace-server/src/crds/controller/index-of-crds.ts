import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { Encoded, ReadableCache } from "@virtual-workspaces/framework/storage";
import { CrdEntry } from "../served/entry.ts";

/** Told of what happens to CustomResourceDefinitions. */
export interface CrdListener {
  /** There is a new one, or one has changed. */
  changed(entry: CrdEntry): void;
  /** One is gone, or another has taken its name. */
  gone(key: ObjectKey, uid: string): void;
}

/** All CustomResourceDefinitions of a shard, by logical cluster, in step with a cache: a few hundred bytes each beside it. */
export class CrdIndex implements Disposable {
  readonly #cache: ReadableCache;
  readonly #clusters = new Map<string, Map<string, CrdEntry>>();
  readonly #names = new Map<string, Set<CrdEntry>>();
  readonly #listener: CrdListener;
  readonly #listening: Disposable;

  constructor(cache: ReadableCache, listener: CrdListener) {
    this.#cache = cache;
    this.#listener = listener;
    this.#listening = cache.listen({
      event: ({ object, key, version }) => {
        if (object === undefined) this.#remove(key, version);
        else this.put(object);
      },
      expired: () => this.#refill(),
    });
    this.#refill();
  }

  /** Those of a logical cluster. */
  in(cluster: string): Iterable<CrdEntry> {
    return this.#clusters.get(cluster)?.values() ?? [];
  }

  /** Of a logical cluster, those of one group. */
  ofGroup(cluster: string, group: string): readonly CrdEntry[] {
    return [...this.in(cluster)].filter((entry) => entry.group === group);
  }

  get({ cluster, name }: Pick<ObjectKey, "cluster" | "name">): CrdEntry | undefined {
    return this.#clusters.get(cluster)?.get(name);
  }

  /** Of all logical clusters, those of one name. */
  named(name: string): Iterable<CrdEntry> {
    return this.#names.get(name) ?? [];
  }

  /** Every one of them. */
  *all(): Generator<CrdEntry, void> {
    for (const entries of this.#clusters.values()) yield* entries.values();
  }

  /** What is known of it already stays. An own write is told here before the cache hears of it. */
  put(object: Encoded): void {
    const entry = this.get(object.key);
    if (entry !== undefined && compareResourceVersions(object.resourceVersion, entry.object.resourceVersion) <= 0)
      return;
    this.#set(object, entry);
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #set(object: Encoded, entry: CrdEntry | undefined): void {
    const { cluster, name } = object.key;
    if (entry === undefined) {
      const entries = this.#clusters.get(cluster) ?? new Map<string, CrdEntry>();
      this.#clusters.set(cluster, entries);
      const made = new CrdEntry(object);
      entries.set(name, made);
      const named = this.#names.get(name) ?? new Set();
      this.#names.set(name, named.add(made));
      this.#listener.changed(made);
      return;
    }
    const { uid } = entry;
    entry.object = object;
    if (uid !== object.uid) this.#listener.gone(object.key, uid);
    this.#listener.changed(entry);
  }

  #remove({ cluster, name, namespace }: ObjectKey, version?: string): void {
    const entries = this.#clusters.get(cluster);
    const entry = entries?.get(name);
    if (entries === undefined || entry === undefined) return;
    if (version !== undefined && compareResourceVersions(version, entry.object.resourceVersion) < 0) return;
    entries.delete(name);
    if (entries.size === 0) this.#clusters.delete(cluster);
    const named = this.#names.get(name);
    named?.delete(entry);
    if (named?.size === 0) this.#names.delete(name);
    this.#listener.gone({ cluster, namespace, name }, entry.uid);
  }

  /** The cache has lost its source, and begins anew: with older objects, where the store was replaced. */
  #refill(): void {
    const { objects } = this.#cache.snapshot();
    const there = new Set<string>();
    for (const object of objects.values()) {
      const entry = this.get(object.key);
      there.add(`${object.key.cluster}/${object.key.name}`);
      if (entry?.object.resourceVersion !== object.resourceVersion) this.#set(object, entry);
    }
    for (const { cluster, name } of [...this.all()])
      if (!there.has(`${cluster}/${name}`)) this.#remove({ cluster, namespace: "", name });
  }
}
