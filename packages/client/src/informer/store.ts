import type { ObjectKey, StoredObject } from "@virtual-workspaces/apimachinery";
import type { Checked } from "./checked.ts";
import type { InformerEvent } from "./events.ts";
import { ObjectMap } from "./object-map.ts";
import { isOlder } from "./position.ts";

/** Name of an object, with its namespace and cluster where needed. */
export type KeyLike = Pick<ObjectKey, "name"> & Partial<ObjectKey>;

/**
 * Cache of an informer (cache.Indexer). All readers share the objects: never modify one. A change replaces the object, so
 * that a reader's copy stays the same.
 */
export interface Store<T> {
  readonly size: number;
  /**
   * Returns an object, or `undefined`.
   *
   * @param key `cluster` defaults to the informer's, which in `*` is the value of the object's annotation; `namespace` to ""
   */
  get(key: KeyLike): T | undefined;
  /** Returns all objects, or those of a cluster, a namespace, or both, in no particular order. */
  list(part?: Partial<Omit<ObjectKey, "name">>): T[];
  /** Returns the objects with a value in an index. @throws Error if there is no such index */
  byIndex(name: string, value: string): T[];
}

interface StoreEntry<T> {
  readonly object: T;
  readonly version: string;
  readonly uid: string | undefined;
}

export interface ObjectStoreOptions<T> {
  /** Default cluster of keys. */
  readonly cluster: string;
  /** Reduces an object before it is stored. */
  readonly transform: (object: StoredObject<T>) => StoredObject<T>;
}

/** New state, built beside the current one. Both share unchanged objects. */
export type Stage<T> = ObjectMap<StoreEntry<StoredObject<T>>>;

/** Store with the methods of its reflector. */
export class ObjectStore<T> implements Store<StoredObject<T>> {
  readonly #options: ObjectStoreOptions<T>;
  readonly #indexes = new Map<string, StoreIndex<StoredObject<T>>>();
  #objects: Stage<T> = new ObjectMap();

  constructor(options: ObjectStoreOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#objects.size;
  }

  get({ cluster = this.#options.cluster, namespace = "", name }: KeyLike): StoredObject<T> | undefined {
    return this.#objects.get({ cluster, namespace, name })?.object;
  }

  list(part?: Partial<Omit<ObjectKey, "name">>): StoredObject<T>[] {
    const objects: StoredObject<T>[] = [];
    for (const [, { object }] of this.#objects.entries(part)) objects.push(object);
    return objects;
  }

  byIndex(name: string, value: string): StoredObject<T>[] {
    const index = this.#indexes.get(name);
    if (index !== undefined) return index.get(value);
    throw new Error(`unknown index ${JSON.stringify(name)}: add it to the informer's indexers`);
  }

  /** Objects with their keys. */
  *entries(): Generator<readonly [ObjectKey, StoredObject<T>]> {
    for (const [key, { object }] of this.#objects.entries()) yield [key, object];
  }

  /** @throws Error if the name is taken */
  addIndexer(name: string, indexer: Indexer<StoredObject<T>>): void {
    if (this.#indexes.has(name)) throw new Error(`index ${JSON.stringify(name)} exists already: use another name`);
    const index = new StoreIndex(indexer);
    for (const [, object] of this.entries()) index.add(object);
    this.#indexes.set(name, index);
  }

  /** Adds or replaces an object. @returns the events of that, none if the store has this version or a newer one */
  put(checked: Checked<T>): InformerEvent<StoredObject<T>>[] {
    const before = this.#objects.get(checked.key);
    if (before !== undefined && isKnown(before, checked)) return [];
    const entry = this.#entry(checked);
    this.#objects.set(checked.key, entry);
    return this.#index(changes({ key: checked.key, before, entry, initial: false }));
  }

  /** Removes an object. @returns the events of that */
  remove(checked: Checked<T>): InformerEvent<StoredObject<T>>[] {
    const { key, version } = checked;
    const before = this.#objects.get(key);
    if (before === undefined || isOlder(version, before.version)) return [];
    this.#objects.delete(key);
    const { object } = this.#entry(checked);
    this.#unindex(before.object);
    return [{ type: "deleted", key, object, finalStateUnknown: false }];
  }

  stage(): Stage<T> {
    return new ObjectMap();
  }

  /** Adds an object to the new state. @returns whether it is new there */
  stagePut(stage: Stage<T>, checked: Checked<T>): boolean {
    const { key, version, object } = checked;
    const staged = stage.get(key);
    if (staged !== undefined && isKnown(staged, checked)) return false;
    const now = this.#objects.get(key);
    const same = now !== undefined && now.version === version && now.uid === object.metadata.uid;
    stage.set(key, same ? now : this.#entry(checked));
    return staged === undefined;
  }

  /** Replaces the current state by the new one. @returns the events of that */
  commit(stage: Stage<T>, initial: boolean): { events: InformerEvent<StoredObject<T>>[]; unchanged: number } {
    const old = this.#objects;
    const events: InformerEvent<StoredObject<T>>[] = [];
    let unchanged = 0;
    for (const [key, entry] of stage.entries()) {
      const before = old.get(key);
      if (before === entry) unchanged += 1;
      else events.push(...changes({ key, before, entry, initial }));
    }
    for (const [key, { object }] of old.entries())
      if (stage.get(key) === undefined) events.push({ type: "deleted", key, object, finalStateUnknown: true });
    this.#objects = stage;
    this.#index(events);
    return { events, unchanged };
  }

  #entry({ object, version }: Checked<T>): StoreEntry<StoredObject<T>> {
    return { object: this.#options.transform(object), version, uid: object.metadata.uid };
  }

  #index(events: InformerEvent<StoredObject<T>>[]): InformerEvent<StoredObject<T>>[] {
    if (this.#indexes.size === 0) return events;
    for (const event of events) {
      if (event.type !== "added") this.#unindex(event.type === "deleted" ? event.object : event.old);
      if (event.type !== "deleted") for (const index of this.#indexes.values()) index.add(event.object);
    }
    return events;
  }

  #unindex(object: StoredObject<T>): void {
    for (const index of this.#indexes.values()) index.remove(object);
  }
}

/** Returns whether the stored object is the same one in this version or a newer one. */
function isKnown<T>({ version, uid }: StoreEntry<StoredObject<T>>, checked: Checked<T>): boolean {
  if (isOlder(checked.version, version)) return true;
  return checked.version === version && checked.object.metadata.uid === uid;
}

interface Put<T> {
  readonly key: ObjectKey;
  readonly before: StoreEntry<T> | undefined;
  readonly entry: StoreEntry<T>;
  readonly initial: boolean;
}

/** An object with the same name and another uid is a new object: one is deleted, the other added. */
function changes<T>({ key, before, entry, initial }: Put<T>): InformerEvent<T>[] {
  const { object, uid } = entry;
  const added = { type: "added", key, object, initial } as const;
  if (before === undefined) return [added];
  if (before.uid === uid) return [{ type: "updated", key, object, old: before.object }];
  return [{ type: "deleted", key, object: before.object, finalStateUnknown: true }, added];
}

/** Returns the index values of an object. */
export type Indexer<T> = (object: T) => readonly string[];

/** Objects by index value. */
class StoreIndex<T> {
  readonly #indexer: Indexer<T>;
  readonly #values = new Map<string, Set<T>>();
  /** Values under which each object was added: an indexer that later returns others must leave no stale entries. */
  readonly #filed = new Map<T, readonly string[]>();

  constructor(indexer: Indexer<T>) {
    this.#indexer = indexer;
  }

  get(value: string): T[] {
    return [...(this.#values.get(value) ?? [])];
  }

  add(object: T): void {
    const values = this.#indexer(object);
    if (values.length === 0) return;
    this.#filed.set(object, values);
    for (const value of values) {
      const objects = this.#values.get(value);
      if (objects === undefined) this.#values.set(value, new Set([object]));
      else objects.add(object);
    }
  }

  remove(object: T): void {
    for (const value of this.#filed.get(object) ?? []) {
      const objects = this.#values.get(value);
      objects?.delete(object);
      if (objects?.size === 0) this.#values.delete(value);
    }
    this.#filed.delete(object);
  }
}
