import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { backoffDelay, Pace, retry, untilAborted } from "@virtual-workspaces/transport";
import { Informer, READ_SLICE, STORE_RETRY } from "./informers/informer.ts";
import type { Indexers } from "./informers/key-index.ts";

/**
 * How much of the past is in memory of each kind, at most. There are forty, and an event takes twice the bytes that count here:
 * watches that resume from further back, and lists as of then, are read from the store.
 */
const HISTORY = { events: 512, bytes: 2 ** 20 } as const;

/** How many logical clusters are known to have nothing. */
const MOST_EMPTY = 10_000;

/** How an informer watches a kind. */
export interface InformerOptions<T> {
  readonly indexers?: Indexers<T>;
  /**
   * When its objects are read: `first`, before the shard serves. Of kinds of which every workspace has some they are read in the
   * background, and, when they are asked for, `withCluster`, all that a logical cluster has, or `byName`, one by one, where a logical
   * cluster may have very many. @default "first"
   */
  readonly read?: "first" | "withCluster" | "byName";
}

/** The objects of a shard, of all its logical clusters: a collection for each kind, in one store, with one line of versions. */
export class ShardObjects implements Disposable {
  readonly store: Store;
  readonly #onError: PersistentOptions["onError"];
  readonly #onFailure: (error: unknown) => void;
  readonly #collections = new Map<string, unknown>();
  readonly #first: Informer<object>[] = [];
  readonly #withCluster: Informer<object>[] = [];
  readonly #byName: Informer<object>[] = [];
  /** Logical clusters that are being read. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Logical clusters that are known to have nothing here, the last that were asked for. */
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

  /** The collection of a kind, the same for all who ask. @param options count when it is made, the first time */
  of<T extends object>(resource: TypedDefinition<T>, options: PersistentOptions = {}): PersistentCollection<T> {
    const name = `${resource.plural}.${resource.version}.${resource.group}`;
    const known = this.#collections.get(name) as PersistentCollection<T> | undefined;
    if (known !== undefined) return known;
    const onError = this.#onError === undefined ? {} : { onError: this.#onError };
    const made = persistent(this.store, { garbageCollected: true, history: HISTORY, ...onError, ...options })(resource);
    this.#collections.set(name, made);
    return made;
  }

  /** A new informer over a kind, which works from {@link start} or {@link begin} on. */
  informer<T extends object>(resource: TypedDefinition<T>, options: InformerOptions<ObjectOf<T>> = {}): Informer<T> {
    const informer = new Informer<T>(this.of(resource), options.indexers);
    const { read = "first" } = options;
    const among = { first: this.#first, withCluster: this.#withCluster, byName: this.#byName }[read];
    among.push(informer as unknown as Informer<object>);
    return informer;
  }

  /** Reads the objects of all informers, and watches them, as {@link Informer.start} says. @throws ApiError 503 when the store cannot be read */
  async start(held?: Promise<unknown>): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.start(held)));
    this.#becomeWhole();
  }

  /**
   * The same, but for the kinds of which every workspace has objects: these are watched, and read where they are asked for
   * ({@link load}), and all of them by {@link readAll}. @throws ApiError 503 when the store cannot be read
   */
  async begin(held: Promise<unknown> = Promise.resolve()): Promise<void> {
    await Promise.all(this.#first.map((informer) => informer.start(held)));
    const after = await this.store.head();
    const head = this.store.head.bind(this.store);
    for (const informer of this.#later) informer.begin(after, { held, head, onError: this.#onFailure });
  }

  /** Whether all is known that there is. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Resolves when all is known that there is. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  /** Reads what a logical cluster has, and notifies handlers at once: for what the server needs itself. @throws ApiError 503 */
  async loadFirst(cluster: string): Promise<void> {
    await Promise.all(
      this.#withCluster.map((informer) => informer.load(cluster, { signal: this.#stop.signal, isOld: false })),
    );
  }

  /**
   * Sees to it that all is known of a logical cluster, but what is read by name: nothing is to be decided about it before.
   *
   * @returns `undefined` when it is known; else a promise, which rejects with ApiError 503 when the store cannot be read
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
   * Reads all there is, kind by kind, in slices, and then notifies the handlers that wait for that. What fails is tried again: while an
   * object cannot be read, its logical cluster cannot be loaded, and not all is known. Resolves when that is done, or this is
   * disposed of.
   */
  async readAll(): Promise<void> {
    const pace = new Pace(READ_SLICE);
    for (const informer of this.#later) await this.#readWhole(informer, pace);
    if (this.#stop.signal.aborted) return;
    this.#becomeWhole();
    for (const informer of this.#later) await informer.notifyAll(pace);
  }

  /** Handlers that are added until this is disposed of are notified together: see {@link Informer.gather}. */
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

  /** Anybody can ask for any name: of those that nobody has only the last are known. */
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
    // It fails only by the end.
    await retry(read, { delayAfter, signal, ref: false }).catch(() => undefined);
  }
}
