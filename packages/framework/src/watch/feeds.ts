import { timerDelay } from "@virtual-workspaces/transport";
import type { ResourceDefinition } from "../definition.ts";
import type { CacheLease, Scope } from "../storage.ts";
import type { HistoryOptions } from "./cache/watch-cache.ts";
import { Feed } from "./feed.ts";
import type { FeedSource } from "./source.ts";

/** What {@link SourceFeeds} follow, and how. */
export interface SourceFeedsOptions {
  readonly definition: ResourceDefinition;
  readonly source: FeedSource;
  /** Told of every failure of the source, which is asked again. @param key of the stream that failed */
  readonly onError: (error: unknown, key: string) => void;
  /** Told when the last stream has ended. @default nobody */
  readonly onEmpty?: () => void;
  readonly history?: HistoryOptions | undefined;
  /**
   * How long a stream outlives its last reader, so that a client that resumes finds its history, ms; less when more than
   * 100 have no reader. @default 60000
   */
  readonly linger?: number | undefined;
  /** The longest time between two attempts on a failing source, ms; shortened at random by up to a half. @default 10000 */
  readonly longestRetry?: number | undefined;
}

/** The most streams without a reader: selectors cost nothing to make up, and each stream holds all that its own selects. */
const MOST_IDLE = 100;

/** A feed and how many hold it. */
interface Shared {
  readonly feed: Feed;
  readonly started: ReturnType<Feed["start"]>;
  holders: number;
  ending: NodeJS.Timeout | undefined;
}

/**
 * The watch caches of one source that tells changes (client-go's shared informers): callers with equal keys share one
 * stream, which begins with the first and ends some time after the last. Everything that decides what the source answers
 * must be in the key: what is left out leaks from one caller to another. Memory: the objects of all streams that are read,
 * and of at most 100 that are not, encoded, and a ring of events for each.
 */
export class SourceFeeds implements AsyncDisposable {
  readonly #options: SourceFeedsOptions;
  readonly #shared = new Map<string, Shared>();
  /** What nobody reads, by how long. */
  readonly #idle = new Map<Shared, string>();

  constructor(options: SourceFeedsOptions) {
    this.#options = options;
  }

  /** How many streams there are. */
  get size(): number {
    return this.#shared.size;
  }

  /** A share in the cache that follows `scope`. @throws what the source's list throws */
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
    // One that could not begin is nobody's to share.
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
