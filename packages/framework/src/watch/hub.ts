import { timerDelay } from "@virtual-workspaces/transport";
import type { ResourceDefinition } from "../definition.ts";
import type { CacheLease, Scope, Storage } from "../storage.ts";
import type { ReadableCache } from "./cache/cache-event.ts";
import { Fanout } from "./fanout.ts";
import { SourceFeeds } from "./feeds.ts";
import type { FanoutStats, SentCount } from "./lane.ts";
import { shareOf, widened } from "./selection.ts";

/** What the hub must know of a resource to watch its objects. */
export interface WatchedResource {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
}

export interface HubOptions {
  /** Told of failing sources, which are retried. */
  readonly onError: (error: unknown, resource: WatchedResource) => void;
  /** How long a source watch outlives its last reader, so that a client that resumes finds its history, ms. @default 60000 */
  readonly linger?: number;
  /** Time between bookmarks, ms. @default 60000, Kubernetes' own */
  readonly bookmarkEvery?: number;
}

/** The most resources whose events are counted apart. */
const MOST_RESOURCES = 500;

/**
 * Where watches meet their sources: one source watch for all callers of a resource with equal share keys, one
 * {@link Fanout} for each cache. Storages that keep their own history hand it over; for the others the hub feeds one.
 */
export class WatchHub implements AsyncDisposable {
  readonly #counted: FanoutStats = { rendered: 0, delivered: 0 };
  readonly #options: Required<HubOptions>;
  readonly #feeds = new Map<Storage, SourceFeeds>();
  readonly #fanouts = new Map<ReadableCache, Fanout>();
  readonly #sent = new Map<string, SentCount & { readonly labels: readonly string[] }>();
  readonly #bookmarks: NodeJS.Timeout;

  constructor(options: HubOptions) {
    this.#options = { linger: 60_000, bookmarkEvery: 60_000, ...options };
    this.#bookmarks = setInterval(() => this.#bookmark(), timerDelay(this.#options.bookmarkEvery)).unref();
  }

  /** What was written, and how many sources are followed. */
  get stats(): FanoutStats & { readonly sources: number } {
    return { ...this.#counted, sources: [...this.#feeds.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  /** A share in the cache that the hub keeps of what answers `scope`. @throws what the source's list throws */
  share(resource: WatchedResource, scope: Scope): Promise<CacheLease> {
    const { storage, definition } = resource;
    const wide = storage.appliesSelectors === true ? scope : widened(scope);
    let feeds = this.#feeds.get(storage);
    if (feeds === undefined) {
      feeds = new SourceFeeds({
        definition,
        source: storage,
        linger: this.#options.linger,
        onError: (error) => this.#options.onError(error, resource),
        onEmpty: () => this.#feeds.delete(storage),
      });
      this.#feeds.set(storage, feeds);
    }
    return feeds.lease(wide, feedKey(storage, wide));
  }

  /** The open watches of a cache; released with {@link leave} when the last one ends. */
  fanout(cache: ReadableCache, definition: ResourceDefinition): Fanout {
    let fanout = this.#fanouts.get(cache);
    if (fanout === undefined) {
      fanout = new Fanout(cache, { stats: this.#counted, sent: this.#sentOf(definition) });
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
    const feeds = [...this.#feeds.values()];
    this.#feeds.clear();
    await Promise.all(feeds.map((feed) => feed[Symbol.asyncDispose]()));
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
}

/** Path parameters, cluster and what the storage applies itself always part callers, whatever it says of sharing. */
function feedKey(storage: Storage, scope: Scope): string {
  const { params, cluster, namespace, labels, fields } = scope;
  return JSON.stringify([shareOf(storage, scope), params, cluster, namespace, labels.toString(), fields.toString()]);
}
