import type { ResourceDefinition } from "../definition.ts";
import { delayOf } from "../numbers.ts";
import type { ServedResource } from "../served.ts";
import type { Awaitable, CacheLease, Scope, Storage } from "../storage.ts";
import type { WatchCache } from "./cache.ts";
import { Fanout } from "./fanout.ts";
import { Feed, widened } from "./feed.ts";
import type { FanoutStats, SentCount } from "./lane.ts";
import type { ReadableCache } from "./readable-cache.ts";
import { shareOf } from "./share.ts";

export interface HubOptions {
  /** Told of failing sources, which are retried. */
  readonly onError: (error: unknown, resource: ServedResource) => void;
  /** How long a source watch outlives its last reader, so that a client that resumes finds its history, ms. @default 60000 */
  readonly linger?: number;
  /** Time between bookmarks, ms. @default 60000, Kubernetes' own */
  readonly bookmarkEvery?: number;
}

/** The most resources whose events are counted apart. */
const MOST_RESOURCES = 500;

/** A feed and how many hold it. */
interface Shared {
  readonly feed: Feed;
  readonly cache: Promise<WatchCache>;
  holders: number;
  ending: NodeJS.Timeout | undefined;
}

/**
 * Where watches meet their sources: one source watch for all callers of a resource with equal share keys, one
 * {@link Fanout} for each cache. Storages that keep their own history hand it over; for the others the hub feeds one.
 */
export class WatchHub implements AsyncDisposable {
  readonly stats: FanoutStats & { sources: number } = { rendered: 0, delivered: 0, sources: 0 };
  readonly #options: Required<HubOptions>;
  readonly #feeds = new Map<Storage, Map<string, Shared>>();
  readonly #fanouts = new Map<ReadableCache, Fanout>();
  readonly #sent = new Map<string, SentCount & { readonly labels: readonly string[] }>();
  readonly #bookmarks: NodeJS.Timeout;

  constructor(options: HubOptions) {
    this.#options = { linger: 60_000, bookmarkEvery: 60_000, ...options };
    this.#bookmarks = setInterval(() => this.#bookmark(), delayOf(this.#options.bookmarkEvery)).unref();
  }

  /** A share in the cache that answers `scope`. @throws what the source's list throws */
  lease(resource: ServedResource, scope: Scope): Awaitable<CacheLease> {
    return resource.storage.cache === undefined ? this.#share(resource, scope) : resource.storage.cache(scope);
  }

  /** The open watches of a cache; released with {@link leave} when the last one ends. */
  fanout(cache: ReadableCache, definition: ResourceDefinition): Fanout {
    let fanout = this.#fanouts.get(cache);
    if (fanout === undefined) {
      fanout = new Fanout(cache, { stats: this.stats, sent: this.#sentOf(definition) });
      this.#fanouts.set(cache, fanout);
    }
    return fanout;
  }

  leave(fanout: Fanout): void {
    if (fanout.size > 0) return;
    this.#fanouts.delete(fanout.cache);
    fanout[Symbol.dispose]();
  }

  /** How many watches are open, and what the caches hold that they read. */
  counts(): Readonly<Record<"subscribers" | "objects" | "events", number>> {
    const all = [...this.#fanouts.values()];
    const sum = (of: (fanout: Fanout) => number): number => all.reduce((total, fanout) => total + of(fanout), 0);
    return {
      subscribers: sum(({ size }) => size),
      objects: sum(({ cache }) => cache.size),
      events: sum(({ cache }) => cache.next - cache.first),
    };
  }

  /** Events sent to watches, by group, version and resource. */
  sent(): readonly { readonly labels: readonly string[]; readonly value: number }[] {
    return [...this.#sent.values()].map(({ labels, events }) => ({ labels, value: events }));
  }

  /** Ends all open watches cleanly. */
  end(): void {
    for (const fanout of this.#fanouts.values()) fanout.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#bookmarks);
    const shared = [...this.#feeds.values()].flatMap((feeds) => [...feeds.values()]);
    this.#feeds.clear();
    for (const { ending } of shared) clearTimeout(ending);
    await Promise.all(shared.map(({ feed }) => feed.stop()));
  }

  #sentOf({ group, version, plural }: ResourceDefinition): SentCount {
    const name = `${group}/${version}/${plural}`;
    const known = this.#sent.has(name) || this.#sent.size < MOST_RESOURCES;
    const labels = known ? [group, version, plural] : ["other", "other", "other"];
    const sent = this.#sent.get(labels.join("/")) ?? { labels, events: 0 };
    this.#sent.set(labels.join("/"), sent);
    return sent;
  }

  #bookmark(): void {
    for (const fanout of this.#fanouts.values()) fanout.bookmark();
  }

  async #share(resource: ServedResource, scope: Scope): Promise<CacheLease> {
    const { storage } = resource;
    const wide = storage.narrows === true ? scope : widened(scope);
    const key = feedKey(storage, wide);
    const feeds = this.#feeds.get(storage) ?? new Map<string, Shared>();
    this.#feeds.set(storage, feeds);
    const shared = feeds.get(key) ?? this.#open(resource, wide);
    feeds.set(key, shared);
    shared.holders += 1;
    clearTimeout(shared.ending);
    const release = once(() => this.#release(storage, key, shared));
    try {
      const cache = await shared.cache;
      return { cache, confirm: ({ signal }) => shared.feed.confirm(signal), [Symbol.dispose]: release };
    } catch (error) {
      if (feeds.get(key) === shared) feeds.delete(key);
      release();
      throw error;
    }
  }

  #open(resource: ServedResource, scope: Scope): Shared {
    const { definition, storage } = resource;
    const onError = (error: unknown): void => this.#options.onError(error, resource);
    const feed = new Feed({ definition, storage, scope, onError });
    this.stats.sources += 1;
    return { feed, cache: feed.start(), holders: 0, ending: undefined };
  }

  #release(storage: Storage, key: string, shared: Shared): void {
    shared.holders -= 1;
    if (shared.holders > 0) return;
    shared.ending = setTimeout(() => {
      const feeds = this.#feeds.get(storage);
      if (feeds?.get(key) === shared) feeds.delete(key);
      if (feeds?.size === 0) this.#feeds.delete(storage);
      this.stats.sources -= 1;
      void shared.feed.stop();
    }, this.#options.linger).unref();
  }
}

/** Path parameters, cluster and what the storage applies itself always part callers, whatever it says of sharing. */
function feedKey(storage: Storage, scope: Scope): string {
  const { params, cluster, namespace, labels, fields } = scope;
  return JSON.stringify([shareOf(storage, scope), params, cluster, namespace, labels.toString(), fields.toString()]);
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
