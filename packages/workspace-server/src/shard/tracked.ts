import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Keyed, Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client";
import type { Awaitable, CacheLease, Encoded, TypedDefinition } from "@virtual-workspaces/framework";
import { Decoded } from "./decoded.ts";
import { FiledKeys, type Indexers, keyOfText, textOfKey } from "./filed-keys.ts";

/** Where the objects of a kind come from: a collection, of all logical clusters. */
export interface TrackedSource<T extends object> {
  readonly resource: TypedDefinition<T>;
  cache(): Awaitable<CacheLease>;
}

/** What is known of the objects of a kind. They are shared by all who read them: never change one. */
export interface TrackedStore<T extends object> extends SourceStore<ObjectOf<T>> {
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

/**
 * The objects of a kind, of all logical clusters, followed as long as the server runs: what controllers, authorizers and
 * admission read without asking the store. In memory they are the bytes that the collection's watch cache has anyway, and
 * 100 bytes each; they are parsed when they are read.
 */
export class Tracked<T extends object = object> implements Source<ObjectOf<T>>, Disposable {
  readonly resource: TypedDefinition<T>;
  readonly store: TrackedStore<T>;
  readonly synced: Promise<void>;
  readonly #source: TrackedSource<T>;
  readonly #told = new Map<string, Encoded>();
  readonly #filed: FiledKeys<ObjectOf<T>>;
  readonly #decoded = new Decoded<ObjectOf<T>>();
  readonly #handlers = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #keyed = new Set<(key: ObjectKey) => void>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #stack = new DisposableStack();
  #lease: CacheLease | undefined;

  constructor(source: TrackedSource<T>, indexers: Indexers<ObjectOf<T>> = {}) {
    this.#source = source;
    this.resource = source.resource;
    this.#filed = new FiledKeys(indexers);
    this.synced = this.#ready.promise;
    this.synced.catch(() => undefined);
    this.store = this.#store();
  }

  /**
   * Begins to follow. @throws ApiError 503 when the store cannot be read
   *
   * @param held until when {@link synced} waits though all is known: controllers do nothing until then
   */
  async start(held: Promise<unknown> = Promise.resolve()): Promise<void> {
    try {
      const lease = this.#stack.adopt(await this.#source.cache(), (held) => held[Symbol.dispose]());
      const { cache } = lease;
      this.#lease = lease;
      this.#compare(cache);
      this.#stack.use(
        cache.listen({
          event: ({ key, object }) => this.#set(textOfKey(key), object),
          expired: () => this.#compare(cache),
        }),
      );
      held.then(
        () => this.#ready.resolve(),
        (error) => this.#ready.reject(error),
      );
    } catch (error) {
      this.#ready.reject(error);
      throw error;
    }
  }

  /** Tells of what is there, and then of each change as it is made, in order. Handlers must not throw. */
  on(handlers: SourceHandlers<ObjectOf<T>>): Disposable {
    this.#handlers.add(handlers);
    for (const object of this.#told.values()) handlers.added?.(this.#decoded.of(object), object);
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  /** Tells which object has changed, come or gone, behind all {@link on}, and nothing of what is there: objects are not parsed. */
  onKey(changed: (key: ObjectKey) => void): Disposable {
    this.#keyed.add(changed);
    return { [Symbol.dispose]: () => void this.#keyed.delete(changed) };
  }

  /** Resolves when everything has been told that the store had when this was called. @throws ApiError 503 */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await this.#lease?.confirm(request);
  }

  [Symbol.dispose](): void {
    this.#handlers.clear();
    this.#keyed.clear();
    this.#stack.dispose();
  }

  /** What differs from what was told: at first all of it, later what was missed while the collection had lost track. */
  #compare(cache: CacheLease["cache"]): void {
    const gone = new Set(this.#told.keys());
    for (const object of cache.snapshot().objects.values()) {
      const text = textOfKey(object.key);
      gone.delete(text);
      this.#set(text, object);
    }
    for (const text of gone) this.#set(text, undefined);
  }

  #set(text: string, object: Encoded | undefined): void {
    const before = this.#told.get(text);
    if (before === undefined && object === undefined) return;
    if (before !== undefined && before.resourceVersion === object?.resourceVersion) return;
    // Parsed where somebody looks: of most kinds nobody does while the shard starts.
    this.#filed.file(text, object && (() => this.#decoded.of(object)));
    if (object === undefined) this.#told.delete(text);
    else this.#told.set(text, object);
    const event = { key: (object ?? (before as Encoded)).key };
    if (this.#handlers.size > 0) this.#tell(before, object, event);
    for (const changed of this.#keyed) changed(event.key);
  }

  #tell(before: Encoded | undefined, object: Encoded | undefined, event: Keyed): void {
    const was = before && this.#decoded.of(before);
    const is = object && this.#decoded.of(object);
    for (const handlers of this.#handlers) {
      if (is === undefined) handlers.deleted?.(was as ObjectOf<T>, event);
      else if (was === undefined) handlers.added?.(is, event);
      else handlers.updated?.(is, was, event);
    }
  }

  #store(): TrackedStore<T> {
    const told = this.#told;
    const read = (text: string): ObjectOf<T> | undefined => {
      const object = told.get(text);
      return object && this.#decoded.of(object);
    };
    const by = (index: string, value: string): string[] => this.#filed.find(index, value);
    return {
      get size() {
        return told.size;
      },
      has: (key) => told.has(textOfKey(key)),
      get: (key) => read(textOfKey(key)),
      list: (cluster) => {
        const texts = cluster === undefined ? [...told.keys()] : this.#filed.inCluster(cluster);
        return texts.map((text) => read(text) as ObjectOf<T>);
      },
      clusters: () => this.#filed.clusters,
      keysIn: (cluster) => this.#filed.inCluster(cluster).map(keyOfText),
      countBy: (index, value) => this.#filed.find(index, value).length,
      keysBy: (index, value) => by(index, value).map(keyOfText),
      by: (index, value) => by(index, value).map((text) => read(text) as ObjectOf<T>),
    };
  }
}
