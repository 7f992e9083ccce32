import { timerDelay } from "@virtual-workspaces/transport";
import type { ResourceDefinition } from "../definition.ts";
import type { CacheLease, Scope } from "../storage.ts";
import type { HistoryOptions } from "./cache/watch-cache.ts";
import { Feed } from "./feed.ts";
import type { FeedSource } from "./source.ts";

/** Source of {@link SourceFeeds}, and options. */
export interface SourceFeedsOptions {
  readonly definition: ResourceDefinition;
  readonly source: FeedSource;
  /** Called on every failure of the source, which is retried. @param key key of the stream that failed */
  readonly onError: (error: unknown, key: string) => void;
  /** Called when the last stream has ended. @default no callback */
  readonly onEmpty?: () => void;
  readonly history?: HistoryOptions | undefined;
  /**
   * How long a stream stays after its last reader, so that a resuming client finds its history, in ms; less when more than
   * 100 have no reader.
   * @default 60000
   */
  readonly linger?: number | undefined;
  /** Maximum time between two attempts on a failing source, in ms, randomly shortened by up to half. @default 10000 */
  readonly longestRetry?: number | undefined;
}

/** Maximum number of streams without a reader: clients may invent selectors, and each stream holds all objects that it selects. */
const MOST_IDLE = 100;

/** A feed and its number of readers. */
interface Shared {
  readonly feed: Feed;
  readonly started: ReturnType<Feed["start"]>;
  holders: number;
  ending: NodeJS.Timeout | undefined;
}

/**
 * Watch caches of one source that reports changes (client-go's shared informers). Callers with equal keys share one stream,
 * which begins with the first and ends some time after the last. Security: the key must contain everything that decides what
 * the source answers; otherwise objects leak from one caller to another. Memory: the encoded objects of all streams with
 * readers and of at most 100 without, and a ring of events for each.
 */
export class SourceFeeds implements AsyncDisposable {
  readonly #options: SourceFeedsOptions;
  readonly #shared = new Map<string, Shared>();
  /** Streams without readers, longest idle first. */
  readonly #idle = new Map<Shared, string>();

  constructor(options: SourceFeedsOptions) {
    this.#options = options;
  }

  /** Number of streams. */
  get size(): number {
    return this.#shared.size;
  }

  /** Leases the cache that follows `scope`. @throws errors of the source's list */
  async lease(scope: Scope, key: string): Promise<CacheLease> {
    const shared = this.#shared.get(key) ?? this.#open(scope, key);
    shared.holders += 1;
    this.#idle.delete(shared);
    clearTimeout(shared.ending);
    let held = true;
    const release = (): void => {
      if (held) this.#release(key, shared);
      held = false;
    };
    try {
      const { cache, past } = await shared.started;
      await shared.feed.permitted();
      const confirm: CacheLease["confirm"] = ({ signal }) => shared.feed.confirm(signal);
      return { cache, ...(past && { past }), confirm, [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends all streams. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#shared.values()];
    this.#shared.clear();
    this.#idle.clear();
    for (const { ending } of all) clearTimeout(ending);
    await Promise.all(all.map(({ feed }) => feed.stop()));
  }

  #open(scope: Scope, key: string): Shared {
    const { definition, source, onError, history, longestRetry } = this.#options;
    const feed = new Feed({
      definition,
      source,
      scope,
      onError: (error) => onError(error, key),
      history,
      longestRetry,
    });
    const shared: Shared = { feed, started: feed.start(), holders: 0, ending: undefined };
    this.#shared.set(key, shared);
    // A stream that could not begin is not shared.
    shared.started.catch(() => this.#forget(key, shared));
    return shared;
  }

  #release(key: string, shared: Shared): void {
    shared.holders -= 1;
    if (shared.holders > 0 || this.#shared.get(key) !== shared) return;
    shared.ending = setTimeout(() => this.#end(key, shared), timerDelay(this.#options.linger ?? 60_000)).unref();
    this.#idle.set(shared, key);
    const [oldest] = this.#idle.size > MOST_IDLE ? this.#idle : [];
    if (oldest !== undefined) this.#end(oldest[1], oldest[0]);
  }

  #end(key: string, shared: Shared): void {
    clearTimeout(shared.ending);
    this.#idle.delete(shared);
    this.#forget(key, shared);
    void shared.feed.stop();
  }

  #forget(key: string, shared: Shared): void {
    if (this.#shared.get(key) !== shared) return;
    this.#shared.delete(key);
    if (this.#shared.size === 0) this.#options.onEmpty?.();
  }
}
