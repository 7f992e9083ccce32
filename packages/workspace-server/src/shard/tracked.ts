import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Keyed, Source, SourceHandlers } from "@virtual-workspaces/client";
import type { Awaitable, CacheLease, Encoded, TypedDefinition } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { Arriving } from "./arriving.ts";
import { Decoded } from "./decoded.ts";
import { FiledKeys, type Indexers, textOfKey } from "./filed-keys.ts";
import { scopeOf } from "./modify.ts";
import { Pace } from "./pace.ts";
import { type TrackedStore, trackedStore } from "./tracked-store.ts";

/** Where the objects of a kind come from: a collection, of all logical clusters. */
export interface TrackedSource<T extends object>
  extends Pick<PersistentCollection<T>, "resource" | "get" | "readCluster" | "changesAfter"> {
  cache(): Awaitable<CacheLease>;
}

/** What to go on with when changes were missed. */
type Missed = (error: unknown, signal: AbortSignal) => Promise<number | undefined>;

/**
 * The objects of a kind, of all logical clusters, followed as long as the server runs: what controllers, authorizers and
 * admission read without asking the store. In memory they are the bytes that the collection's watch cache has anyway, and
 * 100 bytes each; they are parsed when they are read.
 *
 * A kind of which every workspace has objects need not be read before it is followed ({@link begin}): then what is there
 * comes by {@link load}, one logical cluster at a time as it is asked for, and by {@link readAll}, in the background.
 */
export class Tracked<T extends object = object> implements Source<ObjectOf<T>>, Disposable {
  readonly resource: TypedDefinition<T>;
  readonly store: TrackedStore<T>;
  readonly synced: Promise<void>;
  readonly #source: TrackedSource<T>;
  readonly #told = new Map<string, Encoded>();
  readonly #filed: FiledKeys<ObjectOf<T>>;
  readonly #decoded = new Decoded<ObjectOf<T>>();
  readonly #mirrors = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #handlers = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #keyed = new Set<(event: Keyed) => void>();
  readonly #behind = new Set<(key: ObjectKey) => void>();
  /** Those that are told of what is there later, all at once. */
  #waiting: SourceHandlers<ObjectOf<T>>[] | undefined;
  /** While not all has been read. */
  #arriving: Arriving | undefined;
  /** Whether {@link tellAll} has yet to tell of what is there. */
  #tellsLater = false;
  readonly #early = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #stack = new DisposableStack();
  #lease: CacheLease | undefined;
  #listens = false;

  constructor(source: TrackedSource<T>, indexers: Indexers<ObjectOf<T>> = {}) {
    this.#source = source;
    this.resource = source.resource;
    this.#filed = new FiledKeys(indexers);
    this.synced = this.#ready.promise;
    this.synced.catch(() => undefined);
    this.store = trackedStore({ told: this.#told, filed: this.#filed, decoded: this.#decoded });
    this.#stack.defer(() => this.#early.abort());
  }

  /**
   * Reads all there is, and begins to follow. @throws ApiError 503 when the store cannot be read
   *
   * @param held until when {@link synced} waits though all is known: controllers do nothing until then
   */
  async start(held: Promise<unknown> = Promise.resolve()): Promise<void> {
    try {
      const cache = await this.#leased();
      this.#compare(cache);
      this.#listen(cache);
      this.#syncedAfter(held);
    } catch (error) {
      this.#ready.reject(error);
      throw error;
    }
  }

  /**
   * Begins to follow what changes, and leaves what is there for {@link load} and {@link readAll}. Until all is read
   * {@link store} has what was asked for, or has changed: nobody is to take for gone what is not {@link knows known}.
   *
   * @param after a revision: what changes behind it is told
   * @param options.held as for {@link start}
   * @param options.missed asked, when changes were missed, from which revision on they can be told again; none: not any more
   */
  begin(after: number, { held, missed }: { readonly held: Promise<unknown>; readonly missed: Missed }): void {
    this.#arriving = new Arriving(after);
    this.#tellsLater = true;
    void this.#followEarly(after, missed);
    this.#syncedAfter(held);
  }

  /** Whether all is known that a logical cluster has. */
  knows(cluster: string): boolean {
    return this.#arriving === undefined || this.#arriving.knows(cluster);
  }

  /**
   * Reads what a logical cluster has. @throws ApiError 503 when the store cannot be read
   *
   * @param options.isOld whether it is told to those who wait for all of it with the rest, not now
   */
  async load(
    cluster: string,
    { signal, isOld }: { readonly signal: AbortSignal; readonly isOld: boolean },
  ): Promise<void> {
    const { revision, objects } = await this.#source.readCluster(cluster, { signal });
    const pace = new Pace();
    const gone = new Set(this.#filed.inCluster(cluster));
    for (const object of objects) {
      const text = textOfKey(object.key);
      gone.delete(text);
      this.#arrived(text, object, { revision: Number(object.resourceVersion), isOld });
      if (pace.isOver) await pace.rest();
    }
    if (this.#arriving === undefined) return;
    for (const text of gone) this.#goneBy(revision, text);
    this.#arriving.knew(cluster, revision);
  }

  /** Reads one object, unless it is known. @throws ApiError 503 when the store cannot be read */
  async loadOne(key: ObjectKey): Promise<void> {
    const text = textOfKey(key);
    if (this.#arriving === undefined || this.#arriving.knowsName(text)) return;
    const object = await this.#source.get(scopeOf(key), key);
    // One that is known and not there any more is about to be told of.
    if (object === undefined) return;
    this.#arrived(text, object, { revision: Number(object.resourceVersion), isOld: true });
    this.#arriving?.knewName(text);
  }

  /** Has a logical cluster read again when it is asked for the next time. */
  forget(cluster: string): void {
    this.#arriving?.forget(cluster);
  }

  /** Reads all there is, in slices, and follows it from then on. @throws ApiError 503 when the store cannot be read */
  async readAll(pace: Pace): Promise<void> {
    if (this.#arriving === undefined) return;
    const cache = this.#lease?.cache ?? (await this.#leased());
    const { objects, version } = cache.snapshot();
    const known = [...this.#told.keys()];
    this.#listen(cache);
    this.#early.abort();
    for (const [text, object] of objects.entries()) {
      this.#arrived(text, object, { revision: Number(object.resourceVersion), isOld: true });
      if (pace.isOver) await pace.rest();
      if (this.#arriving === undefined || this.#stack.disposed) return;
    }
    for (const text of known) if (objects.get(text) === undefined) this.#goneBy(Number(version), text);
    this.#arriving = undefined;
  }

  /** Tells those who wait for it of all there is, in slices. To be called when all kinds are read. */
  async tellAll(pace: Pace): Promise<void> {
    if (!this.#tellsLater) return;
    this.#tellsLater = false;
    const [keyed, handlers] = [[...this.#keyed], [...this.#handlers].filter(({ added }) => added !== undefined)];
    for (const encoded of this.#told.values()) {
      const event = { key: encoded.key, initial: true };
      for (const changed of keyed) if (this.#keyed.has(changed)) changed(event);
      const object = handlers.length === 0 ? undefined : this.#readable(encoded);
      for (const each of object ? handlers : [])
        if (this.#handlers.has(each)) each.added?.(object as ObjectOf<T>, event);
      if (pace.isOver) await pace.rest();
      if (this.#stack.disposed) return;
    }
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
    if (!this.#tellsLater) for (const encoded of this.#told.values()) handler(encoded);
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
    this.#mirrors.clear();
    this.#handlers.clear();
    this.#keyed.clear();
    this.#behind.clear();
    this.#stack.dispose();
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
    for (const encoded of this.#told.values()) {
      const object = this.#decoded.of(encoded);
      for (const { added } of told) added?.(object, encoded);
    }
  }

  async #leased(): Promise<CacheLease["cache"]> {
    const lease = await this.#source.cache();
    if (this.#stack.disposed) {
      lease[Symbol.dispose]();
      throw new Error(`${this.resource.plural} are not followed any more`);
    }
    this.#stack.use(lease);
    this.#lease = lease;
    return lease.cache;
  }

  /** Once, though what was read then may have to be read again. */
  #listen(cache: CacheLease["cache"]): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#stack.use(
      cache.listen({
        event: ({ key, object, version }) => {
          const text = textOfKey(key);
          if (this.#arriving === undefined) this.#set(text, object);
          else this.#arrived(text, object, { revision: Number(version), isOld: false });
        },
        expired: () => {
          this.#arriving = undefined;
          this.#compare(cache);
        },
      }),
    );
  }

  #syncedAfter(held: Promise<unknown>): void {
    held.then(
      () => this.#ready.resolve(),
      (error) => this.#ready.reject(error),
    );
  }

  /** Changes, until {@link readAll} has what tells of them. */
  async #followEarly(after: number, missed: Missed): Promise<void> {
    const { signal } = this.#early;
    for (let from: number | undefined = after; from !== undefined; ) {
      try {
        for await (const { key, object, revision } of this.#source.changesAfter({ after: from, signal }))
          if (!signal.aborted) this.#arrived(textOfKey(key), object, { revision, isOld: false });
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#arriving?.lost(Number.POSITIVE_INFINITY);
        from = await missed(error, signal);
        if (from !== undefined) this.#arriving?.lost(from);
      }
    }
  }

  /** Something is read or told while not all is known: it counts if it is newer than what is. */
  #arrived(
    text: string,
    object: Encoded | undefined,
    { revision, isOld }: { readonly revision: number; readonly isOld: boolean },
  ): void {
    const arriving = this.#arriving;
    if (arriving === undefined) return;
    const there = this.#told.get(text);
    if (revision <= arriving.knownAt(text, there)) {
      // The same, read again: what was read alone need not stay beside what is read for all.
      if (object === undefined || object.resourceVersion !== there?.resourceVersion) return;
      this.#told.set(text, object);
      this.#decoded.forget(there);
      // What was made a moment ago may have been read before it is told of.
      if (!isOld) this.#tellOf(object, { key: object.key });
      return;
    }
    if (object === undefined) arriving.deleted(text, revision);
    else arriving.set(text);
    this.#set(text, object, isOld);
  }

  #tellOf(object: Encoded, event: Keyed): void {
    for (const changed of this.#keyed) changed(event);
    for (const { added } of this.#handlers) added?.(this.#decoded.of(object), event);
  }

  /** What was there, and is not at a revision, is gone; what has come later stays. */
  #goneBy(revision: number, text: string): void {
    const there = this.#told.get(text);
    if (there !== undefined && Number(there.resourceVersion) <= revision) this.#set(text, undefined);
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

  /** @param isOld whether it has been there all along, and is told of later: {@link tellAll} */
  #set(text: string, object: Encoded | undefined, isOld = false): void {
    const before = this.#told.get(text);
    if (before === undefined && object === undefined) return;
    if (before !== undefined && before.resourceVersion === object?.resourceVersion) return;
    // Parsed where somebody looks: of most kinds nobody does while the shard starts.
    this.#filed.file(text, object && (() => this.#decoded.of(object)));
    if (object === undefined) this.#told.delete(text);
    else this.#told.set(text, object);
    const event = { key: (object ?? (before as Encoded)).key };
    if (this.#mirrors.size > 0) this.#changed(this.#mirrors, { before, object, event });
    if (!isOld) {
      for (const changed of this.#keyed) changed(event);
      if (this.#handlers.size > 0) this.#changed(this.#handlers, { before, object, event });
    }
    for (const changed of this.#behind) changed(event.key);
    if (before !== undefined) this.#decoded.forget(before);
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
