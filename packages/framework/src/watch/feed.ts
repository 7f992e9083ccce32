import { isApiError } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { askedAfterNow, ListAndWatch, type NextAttempt, sleep } from "@virtual-workspaces/transport";
import type { Change, Past } from "../storage.ts";
import { type HistoryOptions, WatchCache } from "./cache/watch-cache.ts";
import {
  type ListedObjects,
  SourceReader,
  type SourceReaderOptions,
  SourceRejection,
  StreamWriter,
} from "./source-reader.ts";

export interface FeedOptions extends Omit<SourceReaderOptions, "signal"> {
  /** Told of every failure of the source, which is no refusal; the feed goes on trying. */
  readonly onError: (error: unknown) => void;
  readonly history?: HistoryOptions | undefined;
  /** The longest time between two attempts on a failing source, ms. @default 10000 */
  readonly longestRetry?: number | undefined;
}

/** How long a reader waits for the stream to catch up with the source's own head, ms. */
const CONFIRM_TIMEOUT = 3_000;
/** How long a source may be silent about a version that it has, before it is listed again, ms; doubled each time. */
const SILENCE = 100;
/** How long a source may take to end its stream, ms. */
const STOP_TIMEOUT = 1_000;
/** The longest backoff from a failing source, ms. */
const LONGEST_RETRY = 10_000;
const LOST = "too old resource version: the source of this view lost its history";

/**
 * Keeps a {@link WatchCache} in step with a source that can list and tell changes (what client-go calls a reflector). When
 * the source refuses to be read any more (403, 404), the cache is emptied: who may not see the objects must not go on to.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #loop: ListAndWatch<ListedObjects, Change, string>;
  readonly #stop = new AbortController();
  readonly #reader: SourceReader;
  readonly #cache: WatchCache;
  readonly #refusal = new SourceRejection();
  /** Whether the source has failed since it was last watched. */
  #failed = false;
  /** Why the source cannot be watched, although it may be listed. */
  #untold: unknown;
  /** Settled when the watch that is begun next, or was last, answers or fails. */
  #attempt = Promise.withResolvers<void>();
  readonly #headNow = askedAfterNow(() => this.#reader.head());
  readonly #compareNow = askedAfterNow(() => this.#compare());

  constructor(options: FeedOptions) {
    const { definition, scope, history, longestRetry = LONGEST_RETRY } = options;
    this.#options = options;
    const cache = new WatchCache({ version: "0", ...(history && { history }) });
    this.#cache = cache;
    const reader = new SourceReader({ ...options, signal: this.#stop.signal });
    this.#reader = reader;
    let writer = new StreamWriter({ definition, scope, cache, reader });
    this.#loop = new ListAndWatch(
      {
        position: () => cache.head,
        list: () => this.#list(),
        replace: ({ items, version }) => cache.reset(items, version, LOST),
        watch: (after, signal) => {
          writer = new StreamWriter({ definition, scope, cache, reader });
          return reader.changes(after, signal);
        },
        apply: (change) => writer.write(change),
        failed: (error, during) => this.#note(error, during),
        isStale: () => this.#isStale(),
        answered: () => this.#answered(),
      },
      { first: 100, most: longestRetry },
    );
  }

  /** Lists once and starts to watch. @throws what the source's list throws */
  async start(): Promise<{ readonly cache: WatchCache; readonly past: Past | undefined }> {
    await this.#loop.relist();
    this.#loop.start();
    const { source, scope } = this.#options;
    return { cache: this.#cache, past: source.past?.(scope, this.#cache) };
  }

  /** Resolves when the source's stream has ended, or does not end in time. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const patience = new AbortController();
    await Promise.race([this.#loop[Symbol.asyncDispose](), sleep(STOP_TIMEOUT, { signal: patience.signal })]);
    patience.abort();
  }

  /** Resolves unless the source refuses to be read, which it is asked again. @throws ApiError what it says */
  async permitted(): Promise<void> {
    if (this.#refusal.stands) await this.#loop.relist();
    if (this.#untold !== undefined) await this.#triedNow();
    if (this.#untold !== undefined) throw this.#untold;
  }

  /** Resolves when the watch has been begun at once, and answers or has failed. */
  async #triedNow(): Promise<void> {
    const { promise } = this.#attempt;
    this.#loop.hurry();
    await Promise.race([promise, sleep(CONFIRM_TIMEOUT, { ref: false })]);
  }

  /**
   * Resolves when the cache has all that the source had when this was called. A source that moves on without telling its
   * progress is compared with: when that shows nothing new, its version is ours. A stream that tells nothing of what is
   * new is begun again.
   */
  async confirm(signal: AbortSignal): Promise<void> {
    await this.permitted();
    const before = this.#cache.head;
    const head = await this.#headNow();
    if (compareResourceVersions(head, before) < 0) return this.#loop.relist();
    const deadline = performance.now() + CONFIRM_TIMEOUT;
    for (let patience = SILENCE; performance.now() < deadline; patience *= 2) {
      if (await reachedWithin(this.#cache, head, { signal, timeout: patience })) return;
      await this.#compareNow();
    }
    if (this.#cache.reached(head)) return;
    this.#loop.rewatch();
    await this.#cache.reach(head, { signal, timeout: CONFIRM_TIMEOUT });
  }

  async #compare(): Promise<void> {
    const cache = this.#cache;
    const { objects, resourceVersion } = await this.#reader.versions();
    let count = 0;
    let same = true;
    for (const object of objects) {
      count += 1;
      same &&= cache.get(object.key)?.resourceVersion === object.resourceVersion;
    }
    if (same && count === cache.size) cache.advance(resourceVersion);
  }

  /** What the source has now. @throws what its list throws; a refusal empties the cache */
  async #list(): Promise<ListedObjects> {
    try {
      const listed = await this.#reader.list();
      this.#refusal.lift();
      return listed;
    } catch (error) {
      this.#refuse(error);
      throw error;
    }
  }

  #refuse(error: unknown): void {
    // Who may not list is told so when they ask, and let in as soon as they may.
    this.#untold = undefined;
    const message = this.#refusal.note(error);
    if (message !== undefined) this.#cache.reset([], this.#cache.head, message);
  }

  #note(error: unknown, during: "list" | "watch"): NextAttempt {
    this.#failed = true;
    this.#refuse(error);
    const isRefused = this.#refusal.stands;
    if (isRefused && during === "watch") this.#untold = error;
    // A refusal is an answer: readers are told.
    if (!isRefused) this.#options.onError(error);
    this.#settle();
    return isRefused || (isApiError(error) && error.code === 410) ? "relist" : "resume";
  }

  /**
   * A source that was away may come back with an older state, from a backup: its stream would tell nothing until its versions
   * have caught up with ours. One that refused to be read has to be asked for everything.
   */
  async #isStale(): Promise<boolean> {
    if (this.#refusal.stands) return true;
    const failed = this.#failed;
    this.#failed = false;
    if (!failed || this.#options.source.head === undefined) return false;
    const { head } = this.#cache;
    return compareResourceVersions(await this.#headNow(), head) < 0;
  }

  #answered(): void {
    this.#untold = undefined;
    this.#settle();
  }

  #settle(): void {
    this.#attempt.resolve();
    this.#attempt = Promise.withResolvers();
  }
}

async function reachedWithin(
  cache: WatchCache,
  version: string,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<boolean> {
  try {
    await cache.reach(version, options);
  } catch (error) {
    if (!isApiError(error) || options.signal.aborted) throw error;
  }
  return cache.reached(version);
}
