import { timerDelay } from "@virtual-workspaces/transport";
import type { ResourceDefinition } from "../definition.ts";
import type { CacheLease, Scope, Storage } from "../storage.ts";
import type { ReadableCache } from "./cache/cache-event.ts";
import { Fanout } from "./fanout.ts";
import { SourceFeeds } from "./feeds.ts";
import type { FanoutStats, SentCount } from "./lane.ts";
import { shareOf, widened } from "./selection.ts";

/** Parts of a resource that the hub needs to watch its objects. */
export interface WatchedResource {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
}

export interface HubOptions {
  /** Called on failures of sources, which are retried. */
  readonly onError: (error: unknown, resource: WatchedResource) => void;
  /** How long a source watch stays after its last reader, so that a resuming client finds its history, in ms. @default 60000 */
  readonly linger?: number;
  /** Time between bookmarks, in ms. @default 60000, as in Kubernetes */
  readonly bookmarkEvery?: number;
}

/** Maximum number of resources with event counters of their own. */
const MOST_RESOURCES = 500;

/**
 * Connects watches with their sources: one source watch for all callers of a resource with equal share keys, one {@link
 * Fanout} for each cache. Storages with a history bring their cache; for the others the hub fills one.
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

  /** Returns the numbers of rendered and delivered events, and of followed sources. */
  get stats(): FanoutStats & { readonly sources: number } {
    return { ...this.#counted, sources: [...this.#feeds.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  /** Leases the cache that the hub keeps for `scope`. @throws errors of the source's list */
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

  /** Returns the open watches of a cache. Release them with {@link leave} when the last one ends. */
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

  /** Returns the number of open watches, and of objects and events in their caches. */
  counts(): Readonly<Record<"subscribers" | "objects" | "events", number>> {
    const all = [...this.#fanouts.values()];
    const sum = (of: (fanout: Fanout) => number): number => all.reduce((total, fanout) => total + of(fanout), 0);
    return {
      subscribers: sum(({ size }) => size),
      objects: sum(({ cache }) => cache.size),
      events: sum(({ cache }) => cache.next - cache.first),
    };
  }

  /** Returns the number of events sent to watches, by group, version and resource. */
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

/** Security: path parameters, logical cluster and the storage's own selectors always separate callers, whatever its `shareKey`. */
function feedKey(storage: Storage, scope: Scope): string {
  const { params, cluster, namespace, labels, fields } = scope;
  return JSON.stringify([shareOf(storage, scope), params, cluster, namespace, labels.toString(), fields.toString()]);
}
