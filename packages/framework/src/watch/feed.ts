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
  /** Called on every failure of the source that is no rejection; the feed retries. */
  readonly onError: (error: unknown) => void;
  readonly history?: HistoryOptions | undefined;
  /** Maximum time between two attempts on a failing source, in ms. @default 10000 */
  readonly longestRetry?: number | undefined;
}

/** How long a reader waits for the stream to catch up with the source's head, in ms. */
const CONFIRM_TIMEOUT = 3_000;
/** How long a source may not report a version that it has, before the feed compares all versions, in ms; doubled each time. */
const SILENCE = 100;
/** How long a source may take to end its stream, in ms. */
const STOP_TIMEOUT = 1_000;
/** Maximum backoff for a failing source, in ms. */
const LONGEST_RETRY = 10_000;
const LOST = "too old resource version: the source of this view lost its history";

/**
 * Keeps a {@link WatchCache} in sync with a source that lists and reports changes (client-go's reflector). Security: empties
 * the cache when the source rejects reading (403, 404), so that callers no longer see its objects.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #loop: ListAndWatch<ListedObjects, Change, string>;
  readonly #stop = new AbortController();
  readonly #reader: SourceReader;
  readonly #cache: WatchCache;
  readonly #refusal = new SourceRejection();
  /** Whether the source has failed since its last watch began. */
  #failed = false;
  /** Error that prevents watching a source that can be listed. */
  #untold: unknown;
  /** Settles when the next watch, or the last one begun, succeeds or fails. */
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

  /** Lists once and starts to watch. @throws errors of the source's list */
  async start(): Promise<{ readonly cache: WatchCache; readonly past: Past | undefined }> {
    await this.#loop.relist();
    this.#loop.start();
    const { source, scope } = this.#options;
    return { cache: this.#cache, past: source.past?.(scope, this.#cache) };
  }

  /** Resolves when the source's stream has ended, or after a timeout. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const patience = new AbortController();
    await Promise.race([this.#loop[Symbol.asyncDispose](), sleep(STOP_TIMEOUT, { signal: patience.signal })]);
    patience.abort();
  }

  /** Resolves unless the source rejects reading, after another attempt. @throws ApiError of the source */
  async permitted(): Promise<void> {
    if (this.#refusal.stands) await this.#loop.relist();
    if (this.#untold !== undefined) await this.#triedNow();
    if (this.#untold !== undefined) throw this.#untold;
  }

  /** Starts the watch at once. Resolves when it has succeeded or failed. */
  async #triedNow(): Promise<void> {
    const { promise } = this.#attempt;
    this.#loop.hurry();
    await Promise.race([promise, sleep(CONFIRM_TIMEOUT, { ref: false })]);
  }

  /**
   * Resolves when the cache has all that the source had at the time of the call. A source may advance without reporting it:
   * if a comparison of all versions finds no difference, the cache takes over its version. A stream that does not report
   * changes is restarted.
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

  /** Lists the source. @throws errors of its list; a rejection empties the cache */
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
    // Callers who may not list get an error on each request, and objects as soon as they may.
    this.#untold = undefined;
    const message = this.#refusal.note(error);
    if (message !== undefined) this.#cache.reject(this.#cache.head, message);
  }

  #note(error: unknown, during: "list" | "watch"): NextAttempt {
    this.#failed = true;
    this.#refuse(error);
    const isRefused = this.#refusal.stands;
    if (isRefused && during === "watch") this.#untold = error;
    // A rejection is an answer: readers receive it.
    if (!isRefused) this.#options.onError(error);
    this.#settle();
    return isRefused || (isApiError(error) && error.code === 410) ? "relist" : "resume";
  }

  /**
   * Whether to list again. A source restored from a backup has an older state: its stream would stay silent until its
   * versions have caught up. After a rejection everything must be listed.
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
