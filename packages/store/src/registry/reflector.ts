import {
  type Encoded,
  type HistoryOptions,
  type Past,
  type ReadableCache,
  WatchCache,
} from "@virtual-workspaces/framework/storage";
import { ListAndWatch, type NextAttempt, timerDelay } from "@virtual-workspaces/transport";
import { Slabs } from "../engine/bytes.ts";
import { pages } from "../engine/pages.ts";
import type { Batch, Entry, Store, Watch } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import type { Entries } from "./entries.ts";
import type { ObjectKeys } from "./keys.ts";
import type { SimilarObjects } from "./similar-objects.ts";

/** Number of past revisions to load into the cache. */
const RECENT = 4096;
/** Time that a reader waits for the cache to catch up, in ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;
/** Interval of progress requests, in ms. Bookmarks, which need them, come every minute. */
const PROGRESS = 30_000;
/** Backoff of a failing store, in ms. */
const RETRY = { first: 100, most: 10_000 } as const;
/** Time to keep events in memory, in seconds (Kubernetes' watch cache: 75 s). */
const AGE = 60;
/** Minimum number of events to keep (Kubernetes' watch cache shrinks to as many). */
const KEPT = 100;
/** Number of checks in that time: events are removed at most half of it late. */
const LOOKS = 2;
const LOST = "too old resource version: the history after this watch's version is gone";

/** History of a kind in memory. Earlier events come from the store. */
export interface RecentHistory extends HistoryOptions {
  /** Time to keep events, in seconds; at most half as long again. The last hundred events stay. @default 60 */
  readonly age?: number;
}

export interface ReflectorOptions {
  readonly history?: RecentHistory | undefined;
  /** Interval of progress requests, in ms. @default 30000 */
  readonly progressEvery?: number | undefined;
  /** Called for failures of the store; the reflector retries. */
  readonly onError: (error: unknown) => void;
}

/** Objects that a {@link Reflector} watches: a range of keys. */
export interface ReflectorSource {
  readonly store: Store;
  readonly keys: Pick<ObjectKeys, "all" | "parse">;
  readonly entries: Pick<Entries, "read">;
  /** Keeps the objects in less memory. @default their bytes */
  readonly similar?: SimilarObjects;
  /** Returns the history before the cache begins. @default none */
  readonly pastOf?: (cache: Pick<ReadableCache, "head">) => Past;
  /** Selects the visible object if several entries are one. @default each entry is an object */
  readonly shown?: {
    /** Returns the visible objects. */
    of(objects: readonly Encoded[]): Iterable<Encoded>;
    /** Returns whether an object comes from an entry's key. */
    isAt(object: Encoded, key: string): boolean;
  };
}

interface ListedEntries {
  readonly revision: number;
  readonly objects: readonly Encoded[];
}

/** Keeps a watch cache in step with a kind in a store, in all logical clusters, until it is disposed. */
export class Reflector implements AsyncDisposable {
  readonly cache: WatchCache;
  /** History before the cache begins. */
  readonly past: Past | undefined;
  readonly #source: ReflectorSource;
  readonly #options: ReflectorOptions;
  readonly #loop: ListAndWatch<ListedEntries, Batch, number>;
  /** Rejects with the first failure. */
  readonly #trouble = Promise.withResolvers<never>();
  readonly #stack = new DisposableStack();
  #watch: Watch | undefined;
  /** Revision of the first list. */
  #first: number | undefined;

  constructor(source: ReflectorSource, options: ReflectorOptions) {
    this.#source = source;
    this.#options = options;
    this.#trouble.promise.catch(() => undefined);
    const { history = {} } = options;
    const cache = new WatchCache({ version: "0", history });
    this.cache = cache;
    this.past = source.pastOf?.(cache);
    const { store, keys, shown } = source;
    this.#loop = new ListAndWatch(
      {
        position: () => Number(cache.head),
        list: () => this.#list(),
        replace: ({ revision, objects }) => cache.reset(shown?.of(objects) ?? objects, String(revision), LOST),
        watch: (after, signal) => {
          const watch = store.watch(keys.all, { after, signal });
          this.#watch = watch;
          watch.requestProgress();
          return watch;
        },
        endsWithStream: true,
        apply: (batch) => this.#apply(batch),
        failed: (error) => this.#failed(error),
        // If the store was replaced while unwatched, it may never have had our revision.
        isStale: async (after) => (await store.head()) < after,
      },
      RETRY,
    );
    this.#stack.use(new Ageing(cache, history.age ?? AGE));
  }

  /**
   * Lists everything and starts to watch. It starts some revisions ago, so that after a restart of the server clients find
   * missed events in the cache.
   * @throws StoreError
   */
  async start(): Promise<void> {
    const head = await this.#source.store.head();
    this.#first = Math.max(1, head - RECENT);
    await this.#loop.relist();
    this.#loop.start();
    // Without writes, bookmarks would fall behind the compacted revision.
    const every = timerDelay(this.#options.progressEvery ?? PROGRESS);
    const asking = setInterval(() => this.#watch?.requestProgress(), every).unref();
    this.#stack.defer(() => clearInterval(asking));
    // Waits without a timeout, but not for a store that fails meanwhile.
    const arrived = this.cache.reach(String(head), {
      signal: this.#loop.signal,
      timeout: timerDelay(Number.POSITIVE_INFINITY),
    });
    await Promise.race([arrived, this.#trouble.promise]);
  }

  /**
   * Resolves when the cache has reached the store's current revision.
   *
   * @throws StoreError if the store is unavailable or was just replaced; ApiError 504 if the cache does not catch up
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const known = this.cache.head;
    const newest = await this.#source.store.head({ signal });
    if (newest < Number(known))
      throw new StoreError("Unavailable", `${this.#source.store.name} was at revision ${known} and is at ${newest}`);
    const head = String(newest);
    if (this.cache.reached(head)) return;
    this.#loop.hurry();
    this.#watch?.requestProgress();
    await this.cache.reach(head, { signal, timeout: PATIENCE });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#loop[Symbol.asyncDispose]();
  }

  /** Lists everything, the first time at a past revision, or the earliest one available after it. */
  async #list(): Promise<ListedEntries> {
    const wanted = this.#first;
    this.#first = undefined;
    for (let at = wanted; ; ) {
      try {
        return await this.#readAll(at);
      } catch (error) {
        // The revision of a list may be compacted between its pages.
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        at = at === wanted ? error.compacted : undefined;
      }
    }
  }

  async #readAll(at?: number): Promise<ListedEntries> {
    const { store, keys, entries, similar } = this.#source;
    const objects: Encoded[] = [];
    // Objects that change later leave gaps: at most everything read here.
    const { take } = new Slabs();
    let revision = 0;
    for await (const page of pages(store, keys.all, { revision: at, signal: this.#loop.signal })) {
      revision = page.revision;
      for (const entry of page.entries) objects.push(entries.read(entry, take, similar));
    }
    return { revision, objects };
  }

  #failed(error: unknown): NextAttempt {
    if (isStoreError(error) && error.code === "Closed") return "end";
    this.#trouble.reject(error);
    this.#options.onError(error);
    return isStoreError(error) && error.code === "Compacted" ? "relist" : "resume";
  }

  #apply({ revision, events }: Batch): boolean {
    const version = String(revision);
    for (const { key, entry } of events) {
      if (entry === undefined) this.#delete(key, version);
      else this.cache.set(this.#kept(entry), version);
    }
    this.cache.advance(version);
    return true;
  }

  /** Another entry may still show an object of the same name. */
  #delete(text: string, version: string): void {
    const { keys, shown } = this.#source;
    const key = keys.parse(text);
    if (shown !== undefined) {
      const object = this.cache.get(key);
      if (object !== undefined && !shown.isAt(object, text)) return;
    }
    this.cache.delete(key, version);
  }

  #kept(entry: Entry): Encoded {
    const { entries, similar } = this.#source;
    return entries.read(entry, Buffer.allocUnsafeSlow, similar);
  }
}

/** Removes old events from a cache until it is disposed, so that a burst of writes does not grow the server for good. */
class Ageing implements Disposable {
  readonly #cache: WatchCache;
  readonly #timer: NodeJS.Timeout;
  /** Position of the cache at each check within that time, the latest last. */
  readonly #marks: number[] = [];

  /** @param age in seconds */
  constructor(cache: WatchCache, age: number) {
    this.#cache = cache;
    this.#timer = setInterval(() => this.#look(), timerDelay((age * 1000) / LOOKS)).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#marks.push(this.#cache.next);
    const old = this.#marks.length > LOOKS ? this.#marks.shift() : undefined;
    if (old !== undefined) this.#cache.forget(old, KEPT);
  }
}
