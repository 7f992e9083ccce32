import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Source } from "@virtual-workspaces/client/queue";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { Awaitable, CacheLease, Encoded } from "@virtual-workspaces/framework/storage";
import type { ObjectChange, PersistentCollection } from "@virtual-workspaces/store";
import { ListAndWatch, Pace } from "@virtual-workspaces/transport";
import { InitialRead } from "./initial-read.ts";
import { type Indexers, keyText, scopeOf } from "./key-index.ts";
import { ObjectCache } from "./object-cache.ts";

/** Where the objects of a kind come from: a collection, of all logical clusters. */
export interface InformerSource<T extends object>
  extends Pick<PersistentCollection<T>, "resource" | "get" | "readCluster" | "changesAfter"> {
  cache(): Awaitable<CacheLease>;
}

/** How an informer watches until all is read. */
export interface EarlyWatchOptions {
  /** As for {@link Informer.start}. */
  readonly held: Promise<unknown>;
  /** The revision of the store now. */
  readonly head: (options: { readonly signal: AbortSignal }) => Promise<number>;
  /** Called when the store fails, and changes were missed; they are watched again from the revision of the store then. */
  readonly onError: (error: unknown) => void;
}

/** How long others wait for a slice of what is read, ms. */
export const READ_SLICE = 5;
/** The backoff from a failing store, ms. */
export const STORE_RETRY = { first: 1_000, most: 60_000, jitter: [1, 1] } as const;

/**
 * Watches the objects of a kind, of all logical clusters, as long as the server runs. Controllers, authorizers and admission
 * read them here without asking the store.
 *
 * A kind of which every workspace has objects need not be read first ({@link begin}): then {@link load} reads one logical
 * cluster at a time as it is asked for, and {@link readAll} reads the rest in the background.
 */
export class Informer<T extends object = object> extends ObjectCache<T> implements Source<ObjectOf<T>>, Disposable {
  readonly resource: TypedDefinition<T>;
  readonly synced: Promise<void>;
  readonly #source: InformerSource<T>;
  /** While not all has been read. */
  #initialRead: InitialRead | undefined;
  /** While there is no watch of all objects. */
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
   * Reads all objects, and begins to watch them. @throws ApiError 503 when the store cannot be read
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
   * Begins to watch changes, and leaves the objects that are there to {@link load} and {@link readAll}. Until all are read
   * {@link store} has the objects that were asked for or have changed: whatever is not {@link knows known} is not gone.
   *
   * @param after the revision after which changes are watched
   */
  begin(after: number, options: EarlyWatchOptions): void {
    this.#initialRead = new InitialRead(after);
    this.notifyLater();
    this.#early = this.#watchEarly(after, options);
    this.#early.start();
    this.#syncedAfter(options.held);
  }

  /** Whether all is known that a logical cluster has. */
  knows(cluster: string): boolean {
    return this.#initialRead === undefined || this.#initialRead.knows(cluster);
  }

  /**
   * Reads what a logical cluster has. @throws ApiError 503 when the store cannot be read
   *
   * @param options.isOld whether handlers are notified later, with the rest, and not now
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

  /** Reads one object, unless it is known. @throws ApiError 503 when the store cannot be read */
  async loadOne(key: ObjectKey): Promise<void> {
    const text = keyText(key);
    if (this.#initialRead === undefined || this.#initialRead.knowsName(text)) return;
    const object = await this.#source.get(scopeOf(key), key);
    // One that is known and not there any more: its event is on the way.
    if (object === undefined) return;
    this.#received(text, object, { revision: Number(object.resourceVersion), isOld: true });
    this.#initialRead?.knewName(text);
  }

  /** Has a logical cluster read again when it is asked for the next time. */
  forget(cluster: string): void {
    this.#initialRead?.forget(cluster);
  }

  /** Reads all objects, in slices, and watches them from then on. @throws ApiError 503 when the store cannot be read */
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

  /** Resolves when handlers have been notified of everything that the store had when this was called. @throws ApiError 503 */
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

  /** Watches changes until {@link readAll} has a watch of its own. A store that fails is watched from its head, and nothing is known any more. */
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

  /** An object is read, or a change comes in, during the initial read: it counts if it is newer than what is known. */
  #received(
    text: string,
    object: Encoded | undefined,
    { revision, isOld }: { readonly revision: number; readonly isOld: boolean },
  ): void {
    const initialRead = this.#initialRead;
    if (initialRead === undefined) return;
    const there = this.at(text);
    if (revision <= initialRead.knownAt(text, there)) {
      // What was made a moment ago may have been read before its event comes.
      if (object !== undefined && object.resourceVersion === there?.resourceVersion)
        this.same(text, { there, object }, isOld);
      return;
    }
    if (object === undefined) initialRead.deleted(text, revision);
    else initialRead.set(text);
    this.set(text, object, isOld);
  }

  /** What was there, and is not at a revision, is gone; what has come later stays. */
  #goneBy(revision: number, text: string): void {
    const there = this.at(text);
    if (there !== undefined && Number(there.resourceVersion) <= revision) this.set(text, undefined);
  }

  /** Applies what differs from the cache: at first all of it, later what was missed while the collection had lost track. */
  #compare(cache: CacheLease["cache"]): void {
    const gone = this.texts();
    // The cache's own texts, which are the same: a second one of each would be a tenth of what the server keeps.
    for (const [text, object] of cache.snapshot().objects.entries()) {
      gone.delete(text);
      this.set(text, object);
    }
    for (const text of gone) this.set(text, undefined);
  }
}
