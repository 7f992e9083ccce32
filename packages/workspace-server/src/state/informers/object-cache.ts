import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Keyed, SourceHandlers, SourceOptions } from "@virtual-workspaces/client/queue";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { Pace } from "@virtual-workspaces/transport";
import { type Indexers, KeyIndex } from "./key-index.ts";
import { DecodedObjects, type Lister, listerOver } from "./lister.ts";

/**
 * Objects of a kind that an informer knows, and the handlers of their changes. In memory they are the bytes that the
 * collection's watch cache has anyway, and 100 bytes each; they are parsed on use.
 *
 * Reading the watch cache itself was measured: it saves the 100 bytes and 3 µs per event, and costs each request 2 to 7 µs.
 *
 * @see docs/decisions/0039-informers-of-a-shard.md
 */
export class ObjectCache<T extends object> implements Disposable {
  readonly store: Lister<T>;
  readonly #objects = new Map<string, Encoded>();
  readonly #index: KeyIndex<ObjectOf<T>>;
  readonly #decoded = new DecodedObjects<ObjectOf<T>>();
  readonly #mirrors = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #handlers = new Set<SourceHandlers<ObjectOf<T>>>();
  /** Handlers that want existing objects, and which. */
  readonly #existing = new Map<SourceHandlers<ObjectOf<T>>, SourceOptions["existing"]>();
  readonly #keyed = new Set<(event: Keyed) => void>();
  readonly #changedKeys = new Set<(key: ObjectKey) => void>();
  /** Handlers that {@link gather} notifies together. */
  #waiting: SourceHandlers<ObjectOf<T>>[] | undefined;
  /** Whether {@link notifyAll} has yet to notify of the existing objects. */
  #notifiesLater = false;
  #disposed = false;

  constructor(indexers: Indexers<ObjectOf<T>>) {
    this.#index = new KeyIndex(indexers);
    this.store = listerOver({ objects: this.#objects, index: this.#index, decoded: this.#decoded });
  }

  /**
   * Notifies of the existing objects, then of each change, in order. During the initial read it notifies of changes at once,
   * and of existing objects when all are known ({@link notifyAll}), of which `options` leaves some out: objects that no handler
   * needs are not parsed. Handlers must not throw.
   */
  on(handlers: SourceHandlers<ObjectOf<T>>, { existing = "all" }: SourceOptions = {}): Disposable {
    this.#handlers.add(handlers);
    if (handlers.added !== undefined && existing !== "none") this.#existing.set(handlers, existing);
    if (!this.#notifiesLater) {
      if (this.#waiting === undefined) this.#notify([handlers]);
      else this.#waiting.push(handlers);
    }
    return {
      [Symbol.dispose]: () => {
        this.#handlers.delete(handlers);
        this.#existing.delete(handlers);
      },
    };
  }

  /** Notifies of each object as soon as it is known: for indexes that must always agree with {@link store}. */
  mirror(handlers: SourceHandlers<ObjectOf<T>>): Disposable {
    this.#mirrors.add(handlers);
    this.#notify([handlers]);
    return { [Symbol.dispose]: () => void this.#mirrors.delete(handlers) };
  }

  /** Same as {@link on}, with keys only: no object is parsed. The handler must not throw. */
  onKey(changed: (event: Keyed) => void): Disposable {
    const handler = (event: Keyed): void => changed(event);
    this.#keyed.add(handler);
    if (!this.#notifiesLater) for (const encoded of this.#objects.values()) handler(encoded);
    return { [Symbol.dispose]: () => void this.#keyed.delete(handler) };
  }

  /** Notifies of the keys of changed objects, after all handlers of {@link on}; not of existing ones. No object is parsed. */
  onChangedKey(changed: (key: ObjectKey) => void): Disposable {
    this.#changedKeys.add(changed);
    return { [Symbol.dispose]: () => void this.#changedKeys.delete(changed) };
  }

  /** Starts to notify the waiting handlers of existing objects: call its result for each logical cluster. */
  notifyExisting(): (cluster: string) => Iterable<void> {
    if (!this.#notifiesLater) return () => [];
    this.#notifiesLater = false;
    // Handlers that come later are notified when they are added.
    const waiting = { keyed: [...this.#keyed], handlers: [...this.#existing] };
    return (cluster) => this.#notifyIn(cluster, waiting);
  }

  /**
   * Notifies the handlers added until disposal together, object by object: each object is parsed once for all. Dispose of it
   * in the same tick, before any event.
   */
  gather(): Disposable {
    this.#waiting = [];
    return {
      [Symbol.dispose]: () => {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        this.#notify(waiting.filter((handlers) => this.#handlers.has(handlers)));
      },
    };
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#mirrors.clear();
    this.#handlers.clear();
    this.#existing.clear();
    this.#decoded[Symbol.dispose]();
    this.#keyed.clear();
    this.#changedKeys.clear();
  }

  /** Leaves existing objects to {@link notifyAll}, instead of notifying each handler when it is added. */
  protected notifyLater(): void {
    this.#notifiesLater = true;
  }

  protected at(text: string): Encoded | undefined {
    return this.#objects.get(text);
  }

  /** Returns the keys of all objects, as texts. */
  protected texts(): Set<string> {
    return new Set(this.#objects.keys());
  }

  protected textsIn(cluster: string): Set<string> {
    return new Set(this.#index.inCluster(cluster));
  }

  /** @param isOld whether the object is not new: {@link notifyAll} notifies of it later */
  protected set(text: string, object: Encoded | undefined, isOld = false): void {
    const before = this.#objects.get(text);
    if (before === undefined && object === undefined) return;
    if (before !== undefined && before.resourceVersion === object?.resourceVersion) return;
    const event = { key: (object ?? (before as Encoded)).key };
    // Parsed lazily: most kinds have no reader while the shard starts.
    this.#index.set(event.key, text, {
      before: before && (() => this.#decoded.of(before)),
      now: object && (() => this.#decoded.of(object)),
    });
    if (object === undefined) this.#objects.delete(text);
    else this.#objects.set(text, object);
    if (this.#mirrors.size > 0) this.#changed(this.#mirrors, { before, object, event });
    if (!isOld) {
      for (const changed of this.#keyed) changed(event);
      if (this.#handlers.size > 0) this.#changed(this.#handlers, { before, object, event });
    }
    for (const changed of this.#changedKeys) changed(event.key);
    if (before !== undefined) this.#decoded.forget(before);
  }

  /**
   * Replaces an object with an equal one, read again, so that the copy read alone can be freed.
   *
   * @param isOld whether {@link notifyAll} notifies of it later; otherwise handlers are notified now, as of a new object
   */
  protected same(text: string, { there, object }: Same, isOld: boolean): void {
    this.#objects.set(text, object);
    this.#decoded.forget(there);
    if (isOld) return;
    const event = { key: object.key };
    for (const changed of this.#keyed) changed(event);
    for (const { added } of this.#handlers) added?.(this.#decoded.of(object), event);
  }

  *#notifyIn(cluster: string, { keyed, handlers }: Waiting<ObjectOf<T>>): Generator<void> {
    for (const text of this.#index.inCluster(cluster)) {
      const encoded = this.#objects.get(text);
      if (this.#disposed || encoded === undefined) continue;
      const event = { key: encoded.key, initial: true };
      for (const changed of keyed) if (this.#keyed.has(changed)) changed(event);
      const wanting = handlers.filter(([each]) => this.#existing.has(each));
      const isForAll = wanting.every(([, which]) => which === "all") || this.#isDeleting(encoded);
      const needed = isForAll ? wanting : wanting.filter(([, which]) => which === "all");
      const object = needed.length === 0 ? undefined : this.#readable(encoded);
      for (const [{ added }] of object === undefined ? [] : needed) added?.(object as ObjectOf<T>, event);
      yield;
    }
  }

  /** Whether an object may be under deletion. */
  #isDeleting(encoded: Encoded): boolean {
    try {
      return (encoded.text ?? encoded.bytes).includes(DELETING);
    } catch {
      return false;
    }
  }

  /** Returns `undefined` for an object that cannot be parsed, which the collection has reported. */
  #readable(encoded: Encoded): ObjectOf<T> | undefined {
    try {
      return this.#decoded.of(encoded);
    } catch {
      return undefined;
    }
  }

  #notify(handlers: readonly SourceHandlers<ObjectOf<T>>[]): void {
    const notified = handlers.filter(({ added }) => added !== undefined);
    if (notified.length === 0) return;
    for (const encoded of this.#objects.values()) {
      const object = this.#decoded.of(encoded);
      for (const { added } of notified) added?.(object, encoded);
    }
  }

  #changed(to: ReadonlySet<SourceHandlers<ObjectOf<T>>>, { before, object, event }: Change): void {
    const was = before && this.#decoded.of(before);
    const is = object && this.#decoded.of(object);
    for (const handlers of to) {
      if (is === undefined) handlers.deleted?.(was as ObjectOf<T>, event);
      else if (was === undefined) handlers.added?.(is, event);
      else handlers.updated?.(is, was, event);
    }
  }
}

/** Text that each object under deletion contains. */
const DELETING = '"deletionTimestamp"';

/** Handlers of existing objects. */
interface Waiting<T> {
  readonly keyed: readonly ((event: Keyed) => void)[];
  readonly handlers: readonly (readonly [SourceHandlers<T>, SourceOptions["existing"]])[];
}

/** Part of an {@link ObjectCache} of any kind. */
interface Notifying extends Pick<ObjectCache<object>, "notifyExisting"> {
  readonly store: Pick<Lister<object>, "clusters">;
}

/**
 * Notifies the waiting handlers of all objects, in slices, once all kinds are read: one logical cluster after the other. So
 * handlers find the other objects of that logical cluster parsed.
 */
export async function notifyAll(caches: readonly Notifying[], pace: Pace): Promise<void> {
  const notifying = caches.map((cache) => cache.notifyExisting());
  const clusters = new Set(caches.flatMap(({ store }) => store.clusters()));
  for (const cluster of clusters)
    for (const notify of notifying) for (const _one of notify(cluster)) if (pace.isOver) await pace.rest();
}

interface Change {
  readonly before: Encoded | undefined;
  readonly object: Encoded | undefined;
  readonly event: Keyed;
}

interface Same {
  readonly there: Encoded;
  readonly object: Encoded;
}
