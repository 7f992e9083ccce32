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
  readonly #behind = new Set<(key: ObjectKey) => void>();
  /** Those that are told of what is there later, all at once. */
  #waiting: SourceHandlers<ObjectOf<T>>[] | undefined;
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
    if (this.#waiting === undefined) this.#tell([handlers]);
    else this.#waiting.push(handlers);
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  /** The same of keys alone: no object is parsed for it. The handler must not throw. */
  onKey(changed: (key: ObjectKey) => void): Disposable {
    const handler = (key: ObjectKey): void => changed(key);
    this.#keyed.add(handler);
    for (const { key } of this.#told.values()) handler(key);
    return { [Symbol.dispose]: () => void this.#keyed.delete(handler) };
  }

  /** Tells which object has changed, come or gone, behind all {@link on}, and nothing of what is there: objects are not parsed. */
  onChangedKey(changed: (key: ObjectKey) => void): Disposable {
    this.#behind.add(changed);
    return { [Symbol.dispose]: () => void this.#behind.delete(changed) };
  }

  /** Resolves when everything has been told that the store had when this was called. @throws ApiError 503 */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await this.#lease?.confirm(request);
  }

  /**
   * Handlers that are added until this is disposed of are told of what is there then, object by object: each is parsed once for
   * all of them. To be disposed of in the same turn, before anything happens.
   */
  gather(): Disposable {
    this.#waiting = [];
    return {
      [Symbol.dispose]: () => {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        this.#tell(waiting.filter((handlers) => this.#handlers.has(handlers)));
      },
    };
  }

  [Symbol.dispose](): void {
    this.#handlers.clear();
    this.#keyed.clear();
    this.#behind.clear();
    this.#stack.dispose();
  }

  #tell(handlers: readonly SourceHandlers<ObjectOf<T>>[]): void {
    const told = handlers.filter(({ added }) => added !== undefined);
    if (told.length === 0) return;
    for (const encoded of this.#told.values()) {
      const object = this.#decoded.of(encoded);
      for (const { added } of told) added?.(object, encoded);
    }
  }

  /** What differs from what was told: at first all of it, later what was missed while the collection had lost track. */
  #compare(cache: CacheLease["cache"]): void {
    const gone = new Set(this.#told.keys());
    // The cache's own texts, which are the same: a second one of each would be a tenth of what the server keeps.
    for (const [text, object] of cache.snapshot().objects.entries()) {
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
    for (const changed of this.#keyed) changed(event.key);
    if (this.#handlers.size > 0) this.#changed(before, object, event);
    for (const changed of this.#behind) changed(event.key);
    if (before !== undefined) this.#decoded.forget(before);
  }

  #changed(before: Encoded | undefined, object: Encoded | undefined, event: Keyed): void {
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
