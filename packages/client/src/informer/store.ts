import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Checked } from "./checked.ts";
import type { InformerEvent } from "./events.ts";
import { ObjectMap } from "./object-map.ts";
import { isOlder } from "./position.ts";

/** An object's name, and what it takes to tell it from others of that name. */
export type KeyLike = Pick<ObjectKey, "name"> & Partial<ObjectKey>;

/**
 * What an informer knows (cache.Indexer). Objects are shared by all who read them, and are not copied: never change one.
 * An object that changes is replaced by another one, so that what was read stays as it was.
 */
export interface Store<T> {
  readonly size: number;
  /**
   * The object of a name, `undefined` when there is none.
   *
   * @param key the cluster is the informer's unless given, in `*` that of the object's annotation; the namespace is ""
   */
  get(key: KeyLike): T | undefined;
  /** All objects, or those of a cluster, of a namespace, of both; in no order. */
  list(part?: Partial<Omit<ObjectKey, "name">>): T[];
  /** The objects that an indexer finds by a text. @throws Error when there is no indexer of that name */
  byIndex(name: string, value: string): T[];
}

interface StoredObject<T> {
  readonly object: T;
  readonly version: string;
  readonly uid: string | undefined;
}

export interface ObjectStoreOptions<T> {
  /** The cluster of keys that name none. */
  readonly cluster: string;
  /** What is kept of an object. */
  readonly transform: (object: ObjectOf<T>) => ObjectOf<T>;
}

/** A new state that is not yet there, built beside the old one. What is unchanged is in both, not twice. */
export type Stage<T> = ObjectMap<StoredObject<ObjectOf<T>>>;

/** The store as its reflector has it. */
export class ObjectStore<T> implements Store<ObjectOf<T>> {
  readonly #options: ObjectStoreOptions<T>;
  readonly #indexes = new Map<string, StoreIndex<ObjectOf<T>>>();
  #objects: Stage<T> = new ObjectMap();

  constructor(options: ObjectStoreOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#objects.size;
  }

  get({ cluster = this.#options.cluster, namespace = "", name }: KeyLike): ObjectOf<T> | undefined {
    return this.#objects.get({ cluster, namespace, name })?.object;
  }

  list(part?: Partial<Omit<ObjectKey, "name">>): ObjectOf<T>[] {
    const objects: ObjectOf<T>[] = [];
    for (const [, { object }] of this.#objects.entries(part)) objects.push(object);
    return objects;
  }

  byIndex(name: string, value: string): ObjectOf<T>[] {
    const index = this.#indexes.get(name);
    if (index !== undefined) return index.get(value);
    throw new Error(`there is no index ${JSON.stringify(name)}: name it in the informer's indexers`);
  }

  /** Each object with its key. */
  *entries(): Generator<readonly [ObjectKey, ObjectOf<T>]> {
    for (const [key, { object }] of this.#objects.entries()) yield [key, object];
  }

  /** @throws Error when there is one of that name */
  addIndexer(name: string, indexer: Indexer<ObjectOf<T>>): void {
    if (this.#indexes.has(name)) throw new Error(`there is an index ${JSON.stringify(name)} already`);
    const index = new StoreIndex(indexer);
    for (const [, object] of this.entries()) index.add(object);
    this.#indexes.set(name, index);
  }

  /** An object was added or changed. @returns what that changes here, nothing when it is known, or older than what is known */
  put(checked: Checked<T>): InformerEvent<ObjectOf<T>>[] {
    const before = this.#objects.get(checked.key);
    if (before !== undefined && isKnown(before, checked)) return [];
    const entry = this.#entry(checked);
    this.#objects.set(checked.key, entry);
    return this.#index(changes({ key: checked.key, before, entry, initial: false }));
  }

  /** An object is gone. */
  remove(checked: Checked<T>): InformerEvent<ObjectOf<T>>[] {
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

  /** An object is part of the new state. @returns whether that was not known */
  stagePut(stage: Stage<T>, checked: Checked<T>): boolean {
    const { key, version, object } = checked;
    const staged = stage.get(key);
    if (staged !== undefined && isKnown(staged, checked)) return false;
    const now = this.#objects.get(key);
    const same = now !== undefined && now.version === version && now.uid === object.metadata.uid;
    stage.set(key, same ? now : this.#entry(checked));
    return staged === undefined;
  }

  /** The new state takes the place of the old one, at once. @returns what that changes */
  commit(stage: Stage<T>, initial: boolean): { events: InformerEvent<ObjectOf<T>>[]; unchanged: number } {
    const old = this.#objects;
    const events: InformerEvent<ObjectOf<T>>[] = [];
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

  #entry({ object, version }: Checked<T>): StoredObject<ObjectOf<T>> {
    return { object: this.#options.transform(object), version, uid: object.metadata.uid };
  }

  #index(events: InformerEvent<ObjectOf<T>>[]): InformerEvent<ObjectOf<T>>[] {
    if (this.#indexes.size === 0) return events;
    for (const event of events) {
      if (event.type !== "added") this.#unindex(event.type === "deleted" ? event.object : event.old);
      if (event.type !== "deleted") for (const index of this.#indexes.values()) index.add(event.object);
    }
    return events;
  }

  #unindex(object: ObjectOf<T>): void {
    for (const index of this.#indexes.values()) index.remove(object);
  }
}

/** Whether it is this object in this version or an older one. */
function isKnown<T>({ version, uid }: StoredObject<ObjectOf<T>>, checked: Checked<T>): boolean {
  if (isOlder(checked.version, version)) return true;
  return checked.version === version && checked.object.metadata.uid === uid;
}

interface Put<T> {
  readonly key: ObjectKey;
  readonly before: StoredObject<T> | undefined;
  readonly entry: StoredObject<T>;
  readonly initial: boolean;
}

/** An object of the same name and another uid is another object: the one is gone, the other there. */
function changes<T>({ key, before, entry, initial }: Put<T>): InformerEvent<T>[] {
  const { object, uid } = entry;
  const added = { type: "added", key, object, initial } as const;
  if (before === undefined) return [added];
  if (before.uid === uid) return [{ type: "updated", key, object, old: before.object }];
  return [{ type: "deleted", key, object: before.object, finalStateUnknown: true }, added];
}

/** What objects are found by: any number of texts for each. */
export type Indexer<T> = (object: T) => readonly string[];

/** Objects by what an indexer says of them. */
class StoreIndex<T> {
  readonly #indexer: Indexer<T>;
  readonly #values = new Map<string, Set<T>>();
  /** What each was filed under: an indexer that answers otherwise later must not leave anything behind. */
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
