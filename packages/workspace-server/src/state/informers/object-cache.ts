import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Keyed, SourceHandlers } from "@virtual-workspaces/client";
import type { Encoded } from "@virtual-workspaces/framework";
import type { Pace } from "./initial-read.ts";
import { type Indexers, KeyIndex } from "./key-index.ts";
import { DecodedObjects, type Lister, listerOver } from "./lister.ts";

/**
 * The objects of a kind as they are known, and who is told of them. In memory they are the bytes that the collection's watch
 * cache has anyway, and 100 bytes each; they are parsed when they are read.
 */
export class ObjectCache<T extends object> implements Disposable {
  readonly store: Lister<T>;
  readonly #objects = new Map<string, Encoded>();
  readonly #filed: KeyIndex<ObjectOf<T>>;
  readonly #decoded = new DecodedObjects<ObjectOf<T>>();
  readonly #mirrors = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #handlers = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #keyed = new Set<(event: Keyed) => void>();
  readonly #behind = new Set<(key: ObjectKey) => void>();
  /** Those that are told of what is there later, all at once. */
  #waiting: SourceHandlers<ObjectOf<T>>[] | undefined;
  /** Whether {@link tellAll} has yet to tell of what is there. */
  #tellsLater = false;
  #disposed = false;

  constructor(indexers: Indexers<ObjectOf<T>>) {
    this.#filed = new KeyIndex(indexers);
    this.store = listerOver({ told: this.#objects, filed: this.#filed, decoded: this.#decoded });
  }

  /**
   * Tells of what is there, and then of each change as it is made, in order. While what is there is still being read, changes
   * are told at once, and what is there when everything is known ({@link tellAll}). Handlers must not throw.
   */
  on(handlers: SourceHandlers<ObjectOf<T>>): Disposable {
    this.#handlers.add(handlers);
    if (!this.#tellsLater) {
      if (this.#waiting === undefined) this.#tell([handlers]);
      else this.#waiting.push(handlers);
    }
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  /** The same of what is known, whenever it comes to be known: for what is to say what {@link store} does. */
  mirror(handlers: SourceHandlers<ObjectOf<T>>): Disposable {
    this.#mirrors.add(handlers);
    this.#tell([handlers]);
    return { [Symbol.dispose]: () => void this.#mirrors.delete(handlers) };
  }

  /** As {@link on}, of keys alone: no object is parsed for it. The handler must not throw. */
  onKey(changed: (event: Keyed) => void): Disposable {
    const handler = (event: Keyed): void => changed(event);
    this.#keyed.add(handler);
    if (!this.#tellsLater) for (const encoded of this.#objects.values()) handler(encoded);
    return { [Symbol.dispose]: () => void this.#keyed.delete(handler) };
  }

  /** Tells which object has changed, come or gone, behind all {@link on}, and nothing of what is there: objects are not parsed. */
  onChangedKey(changed: (key: ObjectKey) => void): Disposable {
    this.#behind.add(changed);
    return { [Symbol.dispose]: () => void this.#behind.delete(changed) };
  }

  /** Tells those who wait for it of all there is, in slices. To be called when all kinds are read. */
  async tellAll(pace: Pace): Promise<void> {
    if (!this.#tellsLater) return;
    this.#tellsLater = false;
    const [keyed, handlers] = [[...this.#keyed], [...this.#handlers].filter(({ added }) => added !== undefined)];
    for (const encoded of this.#objects.values()) {
      const event = { key: encoded.key, initial: true };
      for (const changed of keyed) if (this.#keyed.has(changed)) changed(event);
      const object = handlers.length === 0 ? undefined : this.#readable(encoded);
      for (const each of object ? handlers : [])
        if (this.#handlers.has(each)) each.added?.(object as ObjectOf<T>, event);
      if (pace.isOver) await pace.rest();
      if (this.#disposed) return;
    }
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
    this.#disposed = true;
    this.#mirrors.clear();
    this.#handlers.clear();
    this.#keyed.clear();
    this.#behind.clear();
  }

  /** Has what is there now told by {@link tellAll}, not to each handler as it is added. */
  protected tellLater(): void {
    this.#tellsLater = true;
  }

  protected at(text: string): Encoded | undefined {
    return this.#objects.get(text);
  }

  /** The texts of the keys of all, as they are now. */
  protected texts(): Set<string> {
    return new Set(this.#objects.keys());
  }

  protected textsIn(cluster: string): Set<string> {
    return new Set(this.#filed.inCluster(cluster));
  }

  /** @param isOld whether it has been there all along, and is told of later: {@link tellAll} */
  protected set(text: string, object: Encoded | undefined, isOld = false): void {
    const before = this.#objects.get(text);
    if (before === undefined && object === undefined) return;
    if (before !== undefined && before.resourceVersion === object?.resourceVersion) return;
    // Parsed where somebody looks: of most kinds nobody does while the shard starts.
    this.#filed.file(text, object && (() => this.#decoded.of(object)));
    if (object === undefined) this.#objects.delete(text);
    else this.#objects.set(text, object);
    const event = { key: (object ?? (before as Encoded)).key };
    if (this.#mirrors.size > 0) this.#changed(this.#mirrors, { before, object, event });
    if (!isOld) {
      for (const changed of this.#keyed) changed(event);
      if (this.#handlers.size > 0) this.#changed(this.#handlers, { before, object, event });
    }
    for (const changed of this.#behind) changed(event.key);
    if (before !== undefined) this.#decoded.forget(before);
  }

  /**
   * The same, read again: what was read alone need not stay beside what is read for all.
   *
   * @param isOld whether it is told of later; otherwise now, as what it is to those who were not told
   */
  protected same(text: string, { there, object }: Same, isOld: boolean): void {
    this.#objects.set(text, object);
    this.#decoded.forget(there);
    if (isOld) return;
    const event = { key: object.key };
    for (const changed of this.#keyed) changed(event);
    for (const { added } of this.#handlers) added?.(this.#decoded.of(object), event);
  }

  /** Nothing of one that cannot be read, of which the collection has told. */
  #readable(encoded: Encoded): ObjectOf<T> | undefined {
    try {
      return this.#decoded.of(encoded);
    } catch {
      return undefined;
    }
  }

  #tell(handlers: readonly SourceHandlers<ObjectOf<T>>[]): void {
    const told = handlers.filter(({ added }) => added !== undefined);
    if (told.length === 0) return;
    for (const encoded of this.#objects.values()) {
      const object = this.#decoded.of(encoded);
      for (const { added } of told) added?.(object, encoded);
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

interface Change {
  readonly before: Encoded | undefined;
  readonly object: Encoded | undefined;
  readonly event: Keyed;
}

interface Same {
  readonly there: Encoded;
  readonly object: Encoded;
}
