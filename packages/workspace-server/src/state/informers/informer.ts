import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Source } from "@virtual-workspaces/client";
import type { Awaitable, CacheLease, Encoded, TypedDefinition } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { InitialRead, Pace } from "./initial-read.ts";
import { type Indexers, keyText, scopeOf } from "./key-index.ts";
import { ObjectCache } from "./object-cache.ts";

/** Where the objects of a kind come from: a collection, of all logical clusters. */
export interface InformerSource<T extends object>
  extends Pick<PersistentCollection<T>, "resource" | "get" | "readCluster" | "changesAfter"> {
  cache(): Awaitable<CacheLease>;
}

/** What to go on with when changes were missed. */
type OnMissed = (error: unknown, signal: AbortSignal) => Promise<number | undefined>;

/**
 * The objects of a kind, of all logical clusters, followed as long as the server runs: what controllers, authorizers and
 * admission read without asking the store.
 *
 * A kind of which every workspace has objects need not be read before it is followed ({@link begin}): then what is there
 * comes by {@link load}, one logical cluster at a time as it is asked for, and by {@link readAll}, in the background.
 */
export class Informer<T extends object = object> extends ObjectCache<T> implements Source<ObjectOf<T>>, Disposable {
  readonly resource: TypedDefinition<T>;
  readonly synced: Promise<void>;
  readonly #source: InformerSource<T>;
  /** While not all has been read. */
  #arriving: InitialRead | undefined;
  readonly #early = new AbortController();
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
  begin(after: number, { held, missed }: { readonly held: Promise<unknown>; readonly missed: OnMissed }): void {
    this.#arriving = new InitialRead(after);
    this.tellLater();
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
    const gone = this.textsIn(cluster);
    for (const object of objects) {
      const text = keyText(object.key);
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
    const text = keyText(key);
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
    const known = this.texts();
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

  /** Resolves when everything has been told that the store had when this was called. @throws ApiError 503 */
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
          if (this.#arriving === undefined) this.set(text, object);
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
  async #followEarly(after: number, missed: OnMissed): Promise<void> {
    const { signal } = this.#early;
    for (let from: number | undefined = after; from !== undefined; ) {
      try {
        for await (const { key, object, revision } of this.#source.changesAfter({ after: from, signal }))
          if (!signal.aborted) this.#arrived(keyText(key), object, { revision, isOld: false });
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
    const there = this.at(text);
    if (revision <= arriving.knownAt(text, there)) {
      // What was made a moment ago may have been read before it is told of.
      if (object !== undefined && object.resourceVersion === there?.resourceVersion)
        this.same(text, { there, object }, isOld);
      return;
    }
    if (object === undefined) arriving.deleted(text, revision);
    else arriving.set(text);
    this.set(text, object, isOld);
  }

  /** What was there, and is not at a revision, is gone; what has come later stays. */
  #goneBy(revision: number, text: string): void {
    const there = this.at(text);
    if (there !== undefined && Number(there.resourceVersion) <= revision) this.set(text, undefined);
  }

  /** What differs from what was told: at first all of it, later what was missed while the collection had lost track. */
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
