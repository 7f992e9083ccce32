import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { backoffDelay, Pace, retry, untilAborted } from "@virtual-workspaces/transport";
import { Informer, READ_SLICE, STORE_RETRY } from "./informers/informer.ts";
import type { Indexers } from "./informers/key-index.ts";
import { notifyAll } from "./informers/object-cache.ts";

/**
 * Maximum of history in memory for each kind. There are forty kinds, and an event takes twice the counted bytes. Older
 * watches and lists are read from the store.
 */
const HISTORY = { events: 512, bytes: 2 ** 20 } as const;

/** Maximum of logical clusters remembered as empty. */
const MOST_EMPTY = 10_000;

/** Options of an informer over a kind. */
export interface InformerOptions<T> {
  readonly indexers?: Indexers<T>;
  /**
   * Time at which objects are read: `first` is before the shard serves. The others are read in the background and on demand:
   * `withCluster` all of a logical cluster, `byName` single objects, where there may be very many.
   * @default "first"
   */
  readonly read?: "first" | "withCluster" | "byName";
}

/** Objects of a shard in all its logical clusters: one collection per kind, in one store, with one sequence of versions. */
export class ShardObjects implements Disposable {
  readonly store: Store;
  readonly #onError: PersistentOptions["onError"];
  readonly #onFailure: (error: unknown) => void;
  readonly #collections = new Map<string, unknown>();
  readonly #first: Informer<object>[] = [];
  readonly #withCluster: Informer<object>[] = [];
  readonly #byName: Informer<object>[] = [];
  /** Reads in progress, by logical cluster. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Most recently requested logical clusters that have no objects. */
  readonly #empty = new Set<string>();
  readonly #stop = new AbortController();
  readonly #whole = Promise.withResolvers<void>();
  #isWhole = false;

  /** @param onError called with failures of the store; reads are retried. @default a process warning */
  constructor(store: Store, onError?: (error: unknown) => void) {
    this.store = store;
    this.#onError = onError;
    this.#onFailure = onError ?? ((error) => process.emitWarning(String(error)));
  }

  /** Returns the collection of a kind, shared by all callers. @param options apply to the first call */
  of<T extends object>(resource: TypedDefinition<T>, options: PersistentOptions = {}): PersistentCollection<T> {
    const name = `${resource.plural}.${resource.version}.${resource.group}`;
    const known = this.#collections.get(name) as PersistentCollection<T> | undefined;
    if (known !== undefined) return known;
    const onError = this.#onError === undefined ? {} : { onError: this.#onError };
    const made = persistent(this.store, { garbageCollected: true, history: HISTORY, ...onError, ...options })(resource);
    this.#collections.set(name, made);
    return made;
  }

  /** Returns a new informer over a kind, which works from {@link start} or {@link begin} on. */
  informer<T extends object>(resource: TypedDefinition<T>, options: InformerOptions<ObjectOf<T>> = {}): Informer<T> {
    const { read = "first" } = options;
    // What the server creates in each workspace differs in names, uids and times.
    const informer = new Informer<T>(this.of(resource, { similar: read !== "first" }), options.indexers);
    const among = { first: this.#first, withCluster: this.#withCluster, byName: this.#byName }[read];
    among.push(informer as unknown as Informer<object>);
    return informer;
  }

  /** Reads and watches the objects of all informers, see {@link Informer.start}. @throws ApiError 503 when the store cannot be read */
  async start(held?: Promise<unknown>): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.start(held)));
    this.#becomeWhole();
  }

  /**
   * Same as {@link start}, except for kinds with objects in every workspace: these are watched, and read by
   * {@link load} or {@link readAll}.
   * @throws ApiError 503 when the store cannot be read
   */
  async begin(held: Promise<unknown> = Promise.resolve()): Promise<void> {
    await Promise.all(this.#first.map((informer) => informer.start(held)));
    const after = await this.store.head();
    const head = this.store.head.bind(this.store);
    for (const informer of this.#later) informer.begin(after, { held, head, onError: this.#onFailure });
  }

  /** Whether all objects are known. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Resolves when all objects are known. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  /** Reads a logical cluster and notifies handlers at once: for the server's own clusters. @throws ApiError 503 */
  async loadFirst(cluster: string): Promise<void> {
    await Promise.all(
      this.#withCluster.map((informer) => informer.load(cluster, { signal: this.#stop.signal, isOld: false })),
    );
  }

  /**
   * Loads a logical cluster, except kinds read by name. Decisions about it need that first.
   *
   * @returns `undefined` when it is loaded; else a promise, which rejects with ApiError 503 when the store cannot be read
   */
  load(cluster: string): Promise<void> | undefined {
    if (this.#isWhole || this.#withCluster.every((informer) => informer.knows(cluster))) return undefined;
    let loading = this.#loading.get(cluster);
    if (loading === undefined) {
      loading = this.#load(cluster).finally(() => this.#loading.delete(cluster));
      this.#loading.set(cluster, loading);
    }
    return loading;
  }

  /**
   * Reads all objects, kind by kind, in slices, then notifies the waiting handlers. Failures are retried: while an object is
   * unreadable, its logical cluster cannot be loaded, and {@link isWhole} stays false. Resolves at the end, or on disposal.
   */
  async readAll(): Promise<void> {
    const pace = new Pace(READ_SLICE);
    for (const informer of this.#later) await this.#readWhole(informer, pace);
    if (this.#stop.signal.aborted) return;
    this.#becomeWhole();
    await notifyAll(this.#later, pace);
  }

  /**
   * Resolves when all informers have received everything in the store at the time of this call.
   * @throws ApiError 503 when the store cannot be read
   */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await this.#whole.promise;
    await Promise.all(this.#all.map((informer) => informer.confirm(request)));
  }

  /** Notifies handlers added until disposal together, see {@link Informer.gather}. */
  gather(): Disposable {
    const stack = new DisposableStack();
    for (const informer of this.#all) stack.use(informer.gather());
    return stack;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    for (const informer of this.#all) informer[Symbol.dispose]();
  }

  get #later(): readonly Informer<object>[] {
    return [...this.#withCluster, ...this.#byName];
  }

  get #all(): readonly Informer<object>[] {
    return [...this.#first, ...this.#later];
  }

  #becomeWhole(): void {
    this.#isWhole = true;
    this.#empty.clear();
    this.#whole.resolve();
  }

  async #load(cluster: string): Promise<void> {
    const { signal } = this.#stop;
    const unknown = this.#withCluster.filter((informer) => !informer.knows(cluster));
    await Promise.all(unknown.map((informer) => informer.load(cluster, { signal, isOld: true })));
    if (!this.#withCluster.some(({ store }) => store.keysIn(cluster).length > 0)) this.#isEmpty(cluster);
  }

  /** Remembers an empty logical cluster. Callers can use any name, so only the latest are kept. */
  #isEmpty(cluster: string): void {
    this.#empty.delete(cluster);
    this.#empty.add(cluster);
    const [oldest] = this.#empty;
    if (oldest === undefined || this.#empty.size <= MOST_EMPTY) return;
    this.#empty.delete(oldest);
    for (const informer of this.#withCluster) informer.forget(oldest);
  }

  async #readWhole(informer: Informer<object>, pace: Pace): Promise<void> {
    const { signal } = this.#stop;
    const delayAfter = (error: unknown, failures: number): number => {
      this.#onFailure(error);
      return backoffDelay(failures, STORE_RETRY);
    };
    const read = (): Promise<void> => untilAborted(informer.readAll(pace), signal);
    // Rejects only on disposal.
    await retry(read, { delayAfter, signal, ref: false }).catch(() => undefined);
  }
}
