import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Source } from "@virtual-workspaces/client/queue";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { Awaitable, CacheLease, Encoded } from "@virtual-workspaces/framework/storage";
import type { ObjectChange, PersistentCollection } from "@virtual-workspaces/store";
import { ListAndWatch, Pace } from "@virtual-workspaces/transport";
import { InitialRead } from "./initial-read.ts";
import { type Indexers, keyText, scopeOf } from "./key-index.ts";
import { ObjectCache } from "./object-cache.ts";

/** Source of a kind's objects: a collection over all logical clusters. */
export interface InformerSource<T extends object>
  extends Pick<PersistentCollection<T>, "resource" | "get" | "readCluster" | "changesAfter"> {
  cache(): Awaitable<CacheLease>;
}

/** Options of the watch before all objects are read. */
export interface EarlyWatchOptions {
  /** Same as for {@link Informer.start}. */
  readonly held: Promise<unknown>;
  /** Returns the current revision of the store. */
  readonly head: (options: { readonly signal: AbortSignal }) => Promise<number>;
  /** Called when the store fails and changes are missed; the watch continues from the store's then current revision. */
  readonly onError: (error: unknown) => void;
}

/** Longest blocking of other work by one slice of a read, in milliseconds. */
export const READ_SLICE = 5;
/** Backoff for a failing store, in milliseconds. */
export const STORE_RETRY = { first: 1_000, most: 60_000, jitter: [1, 1] } as const;

/**
 * Watches the objects of a kind in all logical clusters while the server runs. Controllers, authorizers and admission read
 * them here instead of in the store.
 *
 * A kind with objects in every workspace need not be read first ({@link begin}). Then {@link load} reads one logical cluster
 * on demand, and {@link readAll} reads the rest in the background.
 */
export class Informer<T extends object = object> extends ObjectCache<T> implements Source<ObjectOf<T>>, Disposable {
  readonly resource: TypedDefinition<T>;
  readonly synced: Promise<void>;
  readonly #source: InformerSource<T>;
  /** State of the initial read, until all is read. */
  #initialRead: InitialRead | undefined;
  /** Watch of changes, until there is a watch of all objects. */
  #early: ListAndWatch<number, ObjectChange, number> | undefined;
  readonly #ready = Promise.withResolvers<void>();
  readonly #stack = new DisposableStack();
  #lease: CacheLease | undefined;
  #listens = false;

  constructor(source: InformerSource<T>, indexers: Indexers<ObjectOf<T>> = {}) {
    super(indexers);
    this.#source = source;
    this.resource = source.resource;
    this.synced = this.#ready.promise;
    this.synced.catch(() => undefined);
    this.#stack.defer(() => this.#endEarly());
  }

  /**
   * Reads all objects, then watches them.
   * @param held delays {@link synced} and thus the controllers, although all objects are known
   * @throws ApiError 503 when the store cannot be read
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
   * Watches changes, and leaves the existing objects to {@link load} and {@link readAll}. Until all are read, {@link store}
   * has only loaded or changed objects: absence proves nothing unless the logical cluster is {@link knows known}.
   *
   * @param after revision after which changes are watched
   */
  begin(after: number, options: EarlyWatchOptions): void {
    this.#initialRead = new InitialRead(after);
    this.notifyLater();
    this.#early = this.#watchEarly(after, options);
    this.#early.start();
    this.#syncedAfter(options.held);
  }

  /** Whether all objects of a logical cluster are known. */
  knows(cluster: string): boolean {
    return this.#initialRead === undefined || this.#initialRead.knows(cluster);
  }

  /**
   * Reads the objects of a logical cluster.
   * @param options.isOld whether handlers are notified later, with the rest
   * @throws ApiError 503 when the store cannot be read
   */
  async load(
    cluster: string,
    { signal, isOld }: { readonly signal: AbortSignal; readonly isOld: boolean },
  ): Promise<void> {
    const { revision, objects } = await this.#source.readCluster(cluster, { signal });
    const pace = new Pace(READ_SLICE);
    const gone = this.textsIn(cluster);
    for (const object of objects) {
      const text = keyText(object.key);
      gone.delete(text);
      this.#received(text, object, { revision: Number(object.resourceVersion), isOld });
      if (pace.isOver) await pace.rest();
    }
    if (this.#initialRead === undefined) return;
    for (const text of gone) this.#goneBy(revision, text);
    this.#initialRead.knew(cluster, revision);
  }

  /** Reads one object unless it is known. @throws ApiError 503 when the store cannot be read */
  async loadOne(key: ObjectKey): Promise<void> {
    const text = keyText(key);
    if (this.#initialRead === undefined || this.#initialRead.knowsName(text)) return;
    const object = await this.#source.get(scopeOf(key), key);
    // For a known object that has just been deleted, an event follows.
    if (object === undefined) return;
    this.#received(text, object, { revision: Number(object.resourceVersion), isOld: true });
    this.#initialRead?.knewName(text);
  }

  /** Makes the next use of a logical cluster read it again. */
  forget(cluster: string): void {
    this.#initialRead?.forget(cluster);
  }

  /** Reads all objects in slices, then watches them. @throws ApiError 503 when the store cannot be read */
  async readAll(pace: Pace): Promise<void> {
    if (this.#initialRead === undefined) return;
    const cache = this.#lease?.cache ?? (await this.#leased());
    const { objects, version } = cache.snapshot();
    const known = this.texts();
    this.#listen(cache);
    this.#endEarly();
    for (const [text, object] of objects.entries()) {
      this.#received(text, object, { revision: Number(object.resourceVersion), isOld: true });
      if (pace.isOver) await pace.rest();
      if (this.#initialRead === undefined || this.#stack.disposed) return;
    }
    for (const text of known) if (objects.get(text) === undefined) this.#goneBy(Number(version), text);
    this.#initialRead = undefined;
  }

  /** Resolves when handlers have received everything in the store at the time of this call. @throws ApiError 503 */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await this.#lease?.confirm(request);
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#stack.dispose();
  }

  async #leased(): Promise<CacheLease["cache"]> {
    const lease = await this.#source.cache();
    if (this.#stack.disposed) {
      lease[Symbol.dispose]();
      throw new Error(`the informer of ${this.resource.plural} is closed`);
    }
    this.#stack.use(lease);
    this.#lease = lease;
    return lease.cache;
  }

  /** Listens once, even if the read has to be repeated. */
  #listen(cache: CacheLease["cache"]): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#stack.use(
      cache.listen({
        event: ({ key, object, version }) => {
          const text = keyText(key);
          if (this.#initialRead === undefined) this.set(text, object);
          else this.#received(text, object, { revision: Number(version), isOld: false });
        },
        expired: () => {
          this.#initialRead = undefined;
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

  /** Watches changes until {@link readAll} has its own watch. After a failure it continues at the store's head and knows nothing. */
  #watchEarly(after: number, { head, onError }: EarlyWatchOptions): ListAndWatch<number, ObjectChange, number> {
    let position = after;
    return new ListAndWatch(
      {
        position: () => position,
        list: (signal) => head({ signal }),
        replace: (revision) => {
          position = revision;
          this.#initialRead?.lost(revision);
        },
        watch: (from, signal) => this.#source.changesAfter({ after: from, signal }),
        endsWithStream: true,
        apply: ({ key, object, revision }) => {
          position = revision;
          this.#received(keyText(key), object, { revision, isOld: false });
          return true;
        },
        failed: (error) => {
          this.#initialRead?.lost(Number.POSITIVE_INFINITY);
          onError(error);
          return "relist";
        },
      },
      STORE_RETRY,
    );
  }

  #endEarly(): void {
    void this.#early?.[Symbol.asyncDispose]();
    this.#early = undefined;
  }

  /** Applies an object or event during the initial read if it is newer than the known state. */
  #received(
    text: string,
    object: Encoded | undefined,
    { revision, isOld }: { readonly revision: number; readonly isOld: boolean },
  ): void {
    const initialRead = this.#initialRead;
    if (initialRead === undefined) return;
    const there = this.at(text);
    if (revision <= initialRead.knownAt(text, there)) {
      // A new object may have been read before its event arrives.
      if (object !== undefined && object.resourceVersion === there?.resourceVersion)
        this.same(text, { there, object }, isOld);
      return;
    }
    if (object === undefined) initialRead.deleted(text, revision);
    else initialRead.set(text);
    this.set(text, object, isOld);
  }

  /** Removes an object that does not exist at a revision, unless it is newer. */
  #goneBy(revision: number, text: string): void {
    const there = this.at(text);
    if (there !== undefined && Number(there.resourceVersion) <= revision) this.set(text, undefined);
  }

  /** Applies differences from the cache: first all objects, later those missed while the collection had lost track. */
  #compare(cache: CacheLease["cache"]): void {
    const gone = this.texts();
    // Reuses the cache's strings: copies would take a tenth of the server's memory.
    for (const [text, object] of cache.snapshot().objects.entries()) {
      gone.delete(text);
      this.set(text, object);
    }
    for (const text of gone) this.set(text, undefined);
  }
}
