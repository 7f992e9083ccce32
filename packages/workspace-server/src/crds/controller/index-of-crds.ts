import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { Encoded, ReadableCache } from "@virtual-workspaces/framework/storage";
import { CrdEntry } from "../served/entry.ts";

/** Handlers of changes of CustomResourceDefinitions. */
export interface CrdListener {
  /** Called when a definition was added or changed. */
  changed(entry: CrdEntry): void;
  /** Called when a definition was removed, or replaced by another of the same name. */
  gone(key: ObjectKey, uid: string): void;
}

/** Index of a shard's CustomResourceDefinitions by logical cluster, in step with a cache: a few hundred bytes each. */
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

  /** Returns the definitions of a logical cluster. */
  in(cluster: string): Iterable<CrdEntry> {
    return this.#clusters.get(cluster)?.values() ?? [];
  }

  /** Returns the definitions of one group in a logical cluster. */
  ofGroup(cluster: string, group: string): readonly CrdEntry[] {
    return [...this.in(cluster)].filter((entry) => entry.group === group);
  }

  get({ cluster, name }: Pick<ObjectKey, "cluster" | "name">): CrdEntry | undefined {
    return this.#clusters.get(cluster)?.get(name);
  }

  /** Returns the definitions with a name in all logical clusters. */
  named(name: string): Iterable<CrdEntry> {
    return this.#names.get(name) ?? [];
  }

  /** Yields the definitions of all logical clusters. */
  *all(): Generator<CrdEntry, void> {
    for (const entries of this.#clusters.values()) yield* entries.values();
  }

  /** Adds an object unless a newer version is known. The server's own writes come here before their event. */
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

  /** Rebuilds the index after the cache was reset, possibly with older objects, if the store was replaced. */
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
