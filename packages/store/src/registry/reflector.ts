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

/** From how many revisions ago the past is read into the cache. */
const RECENT = 4096;
/** How long a reader waits for the cache to catch up, ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;
/** How often the store is asked how far it is, ms: bookmarks, which tell of it, come every minute. */
const PROGRESS = 30_000;
/** The backoff from a failing store, ms. */
const RETRY = { first: 100, most: 10_000 } as const;
/** For how long what happened stays in memory, s (Kubernetes' watch cache: 75 s). */
const AGE = 60;
/** How many events stay, however old they are (Kubernetes' watch cache shrinks to as many). */
const KEPT = 100;
/** How often in that time it looks: what is forgotten is half as old again at most. */
const LOOKS = 2;
const LOST = "too old resource version: the history that this watch was to go on with is gone";

/** How much of what happened to the objects of a kind is kept in memory: what is older is read from the store. */
export interface RecentHistory extends HistoryOptions {
  /** For how long, s; at most half as long again. The last hundred events stay, however old they are. @default 60 */
  readonly age?: number;
}

export interface ReflectorOptions {
  readonly history?: RecentHistory | undefined;
  /** How often the store is asked how far it is, ms. @default 30000 */
  readonly progressEvery?: number | undefined;
  /** Called with failures of the store; the reflector goes on trying. */
  readonly onError: (error: unknown) => void;
}

/** The objects of a store that a {@link Reflector} watches: those in a range of its keys. */
export interface ReflectorSource {
  readonly store: Store;
  readonly keys: Pick<ObjectKeys, "all" | "parse">;
  readonly entries: Pick<Entries, "read">;
  /** What is remembered of the time before the cache begins. @default nothing */
  readonly pastOf?: (cache: Pick<ReadableCache, "head">) => Past;
  /** Set where several entries may be one object: which of them is shown. @default each is one of its own */
  readonly shown?: {
    /** Those to be shown of all that there are. */
    of(objects: readonly Encoded[]): Iterable<Encoded>;
    /** Whether an object is that of an entry's key. */
    isAt(object: Encoded, key: string): boolean;
  };
}

interface ListedEntries {
  readonly revision: number;
  readonly objects: readonly Encoded[];
}

/** Keeps a watch cache in step with the objects of a kind in a store, of all logical clusters, until disposed. */
export class Reflector implements AsyncDisposable {
  readonly cache: WatchCache;
  /** What was before the cache begins. */
  readonly past: Past | undefined;
  readonly #source: ReflectorSource;
  readonly #options: ReflectorOptions;
  readonly #loop: ListAndWatch<ListedEntries, Batch, number>;
  /** The first failure to watch. */
  readonly #trouble = Promise.withResolvers<never>();
  readonly #stack = new DisposableStack();
  #watch: Watch | undefined;
  /** As of which revision the first list is wanted. */
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
        // A store that was replaced while nobody watched it would be watched from a revision that it may never have had.
        isStale: async (after) => (await store.head()) < after,
      },
      RETRY,
    );
    this.#stack.use(new Ageing(cache, history.age ?? AGE));
  }

  /**
   * Reads all there is, and starts to watch. It begins some revisions ago, so that clients of a server that was started
   * anew find what they missed in the cache, all in one place. @throws StoreError
   */
  async start(): Promise<void> {
    const head = await this.#source.store.head();
    this.#first = Math.max(1, head - RECENT);
    await this.#loop.relist();
    this.#loop.start();
    // Where nothing is written bookmarks would else stand still, until what they name has been compacted.
    const every = timerDelay(this.#options.progressEvery ?? PROGRESS);
    const asking = setInterval(() => this.#watch?.requestProgress(), every).unref();
    this.#stack.defer(() => clearInterval(asking));
    // However long that takes, it is what was asked for; a store that fails meanwhile is not waited for.
    const arrived = this.cache.reach(String(head), {
      signal: this.#loop.signal,
      timeout: timerDelay(Number.POSITIVE_INFINITY),
    });
    await Promise.race([arrived, this.#trouble.promise]);
  }

  /**
   * Resolves when the cache has all that the store had when this was called.
   *
   * @throws StoreError when it cannot be asked, or has just been replaced; ApiError 504 when it does not tell
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

  /** Reads what there is: at first as of some revisions ago, or as soon after that as is known. */
  async #list(): Promise<ListedEntries> {
    const wanted = this.#first;
    this.#first = undefined;
    for (let at = wanted; ; ) {
      try {
        return await this.#readAll(at);
      } catch (error) {
        // What is read page by page at one revision may be compacted on the way.
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        at = at === wanted ? error.compacted : undefined;
      }
    }
  }

  async #readAll(at?: number): Promise<ListedEntries> {
    const { store, keys, entries } = this.#source;
    const objects: Encoded[] = [];
    // Those that change later leave a gap: at most all that is read here.
    const { take } = new Slabs();
    let revision = 0;
    for await (const page of pages(store, keys.all, { revision: at, signal: this.#loop.signal })) {
      revision = page.revision;
      for (const entry of page.entries) objects.push(entries.read(entry, take));
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

  /** What is shown under the same name may be there still. */
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
    return this.#source.entries.read(entry, Buffer.allocUnsafeSlow);
  }
}

/** Has a cache forget what is old, until disposed of: a server is no larger after a storm than before it. */
class Ageing implements Disposable {
  readonly #cache: WatchCache;
  readonly #timer: NodeJS.Timeout;
  /** Where the cache was at each look within that time, the last one last. */
  readonly #marks: number[] = [];

  /** @param age s */
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
