import { setTimeout as delay } from "node:timers/promises";
import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { Informer } from "./informers/informer.ts";
import { Pace } from "./informers/initial-read.ts";
import type { Indexers } from "./informers/key-index.ts";

/**
 * How much of the past is in memory of each kind, at most. There are forty, and an event takes twice the bytes that count here:
 * watches that resume from further back, and lists as of then, are read from the store.
 */
const HISTORY = { events: 512, bytes: 2 ** 20 } as const;

/** How long a store that fails is left alone, ms: twice as long each time. */
const RETRY = { first: 1_000, last: 60_000 } as const;

/** How many logical clusters are known to have nothing. */
const MOST_EMPTY = 10_000;

/** How a kind is followed. */
export interface InformerOptions<T> {
  readonly indexers?: Indexers<T>;
  /**
   * When its objects are read: `first`, before the shard serves. Of kinds of which every workspace has some they are read in the
   * background, and, when somebody asks, `withCluster`, all that a logical cluster has, or `byName`, one by one, where a logical
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

  /** @param onError told of failures of the store; what reads goes on trying. @default a process warning */
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

  /** Follows a kind from {@link start} or {@link begin} on. */
  informer<T extends object>(resource: TypedDefinition<T>, options: InformerOptions<ObjectOf<T>> = {}): Informer<T> {
    const tracked = new Informer<T>(this.of(resource), options.indexers);
    const { read = "first" } = options;
    const among = { first: this.#first, withCluster: this.#withCluster, byName: this.#byName }[read];
    among.push(tracked as unknown as Informer<object>);
    return tracked;
  }

  /** Reads all that is tracked, and follows it, as {@link Informer.start} says. @throws ApiError 503 when the store cannot be read */
  async start(held?: Promise<unknown>): Promise<void> {
    await Promise.all(this.#all.map((tracked) => tracked.start(held)));
    this.#becomeWhole();
  }

  /**
   * The same, but for the kinds of which every workspace has objects: these are followed, and read where somebody asks
   * ({@link load}), and all of them by {@link readAll}. @throws ApiError 503 when the store cannot be read
   */
  async begin(held: Promise<unknown> = Promise.resolve()): Promise<void> {
    await Promise.all(this.#first.map((tracked) => tracked.start(held)));
    const after = await this.store.head();
    const missed = (error: unknown, signal: AbortSignal): Promise<number | undefined> => this.#missed(error, signal);
    for (const tracked of this.#later) tracked.begin(after, { held, missed });
  }

  /** Whether all is known that there is. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Resolves when all is known that there is. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  /** Reads what a logical cluster has, and tells who follows at once: what the server needs for itself. @throws ApiError 503 */
  async loadFirst(cluster: string): Promise<void> {
    await Promise.all(
      this.#withCluster.map((tracked) => tracked.load(cluster, { signal: this.#stop.signal, isOld: false })),
    );
  }

  /**
   * Sees to it that all is known of a logical cluster, but what is read by name: nothing is to be decided about it before.
   *
   * @returns `undefined` when it is known; else a promise, which rejects with ApiError 503 when the store cannot be read
   */
  load(cluster: string): Promise<void> | undefined {
    if (this.#isWhole || this.#withCluster.every((tracked) => tracked.knows(cluster))) return undefined;
    let loading = this.#loading.get(cluster);
    if (loading === undefined) {
      loading = this.#load(cluster).finally(() => this.#loading.delete(cluster));
      this.#loading.set(cluster, loading);
    }
    return loading;
  }

  /**
   * Reads all there is, kind by kind, in slices, and then tells of it who waits for that. What fails is tried again: while an
   * object cannot be read, its logical cluster cannot be loaded, and not all is known. Resolves when that is done, or this is
   * disposed of.
   */
  async readAll(): Promise<void> {
    const pace = new Pace();
    for (const tracked of this.#later) await this.#readWhole(tracked, pace);
    if (this.#stop.signal.aborted) return;
    this.#becomeWhole();
    for (const tracked of this.#later) await tracked.tellAll(pace);
  }

  /** Who follows anything from here until this is disposed of is told together what there is: see {@link Informer.gather}. */
  gather(): Disposable {
    const stack = new DisposableStack();
    for (const tracked of this.#all) stack.use(tracked.gather());
    return stack;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    for (const tracked of this.#all) tracked[Symbol.dispose]();
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
    const unknown = this.#withCluster.filter((tracked) => !tracked.knows(cluster));
    await Promise.all(unknown.map((tracked) => tracked.load(cluster, { signal, isOld: true })));
    if (!this.#withCluster.some(({ store }) => store.keysIn(cluster).length > 0)) this.#isEmpty(cluster);
  }

  /** Anybody can ask for any name: of those that nobody has only the last are known. */
  #isEmpty(cluster: string): void {
    this.#empty.delete(cluster);
    this.#empty.add(cluster);
    const [oldest] = this.#empty;
    if (oldest === undefined || this.#empty.size <= MOST_EMPTY) return;
    this.#empty.delete(oldest);
    for (const tracked of this.#withCluster) tracked.forget(oldest);
  }

  async #readWhole(tracked: Informer<object>, pace: Pace): Promise<void> {
    const { signal } = this.#stop;
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    for (let wait: number = RETRY.first; !signal.aborted; wait = Math.min(2 * wait, RETRY.last)) {
      try {
        await Promise.race([tracked.readAll(pace), stopped]);
        return;
      } catch (error) {
        await this.#failed(error, { signal, wait });
      }
    }
  }

  /** @returns from where changes can be told again; nothing when that is over */
  async #missed(error: unknown, signal: AbortSignal): Promise<number | undefined> {
    let cause = error;
    for (let wait: number = RETRY.first; !signal.aborted; wait = Math.min(2 * wait, RETRY.last)) {
      await this.#failed(cause, { signal, wait });
      try {
        return signal.aborted ? undefined : await this.store.head({ signal });
      } catch (again) {
        cause = again;
      }
    }
    return undefined;
  }

  async #failed(
    error: unknown,
    { signal, wait }: { readonly signal: AbortSignal; readonly wait: number },
  ): Promise<void> {
    if (signal.aborted) return;
    this.#onFailure(error);
    await delay(wait, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
