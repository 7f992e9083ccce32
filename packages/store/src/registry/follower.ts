import { setTimeout as delay } from "node:timers/promises";
import { type Encoded, type HistoryOptions, WatchCache } from "@virtual-workspaces/framework";
import type { Batch, Entry, Watch } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import type { Place } from "./store-keeper.ts";

/** Entries that are read in one go. */
const PAGE = 1000;
/** From how many revisions ago the past is read into the cache. */
const RECENT = 4096;
/** How long a reader waits for the cache to catch up, ms (Kubernetes' watch cache: 3 s). */
const PATIENCE = 3_000;
/** How often the store is asked how far it is, ms: bookmarks, which tell of it, come every minute. */
const PROGRESS = 30_000;
/** Milliseconds between attempts on a failing store: doubled each time, with jitter. */
const RETRY = { first: 100, last: 10_000 } as const;
const LOST = "too old resource version: the history that this watch was to go on with is gone";

export interface FollowerOptions {
  readonly history?: HistoryOptions | undefined;
  /** How often the store is asked how far it is, ms. @default 30000 */
  readonly progressEvery?: number | undefined;
  /** Told of failures of the store; the follower goes on trying. */
  readonly onError: (error: unknown) => void;
}

/** Keeps a watch cache in step with the objects of a kind in a store, of all logical clusters, until disposed. */
export class Follower implements AsyncDisposable {
  readonly cache: WatchCache;
  readonly #place: Place;
  readonly #options: FollowerOptions;
  readonly #stop = new AbortController();
  #watch: Watch | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(place: Place, options: FollowerOptions) {
    this.#place = place;
    this.#options = options;
    this.cache = new WatchCache({
      version: "0",
      ...(options.history === undefined ? {} : { history: options.history }),
    });
  }

  /**
   * Reads all there is, and starts to follow. It begins some revisions ago, so that clients of a server that was started
   * anew find what they missed in the cache, all in one place. @throws StoreError, ApiError 504
   */
  async start(): Promise<void> {
    const head = await this.#place.store.head();
    await this.#fill(Math.max(1, head - RECENT));
    this.#running = this.#follow();
    await this.cache.reach(String(head), { signal: this.#stop.signal, timeout: PATIENCE });
  }

  /**
   * Resolves when the cache has all that the store had when this was called.
   *
   * @throws StoreError when it cannot be asked, ApiError 504 when it does not tell
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const head = String(await this.#place.store.head({ signal }));
    if (this.cache.reached(head)) return;
    this.#watch?.requestProgress();
    await this.cache.reach(head, { signal, timeout: PATIENCE });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Begins anew with what there was at a revision, or as soon after it as is known. Ends open watches: they list again. */
  async #fill(wanted?: number): Promise<void> {
    for (let at = wanted; ; ) {
      try {
        const { revision, objects } = await this.#readAll(at);
        this.cache.reset(objects, String(revision), LOST);
        return;
      } catch (error) {
        // What is read page by page at one revision may be compacted on the way.
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        at = at === wanted ? error.compacted : undefined;
      }
    }
  }

  async #readAll(at?: number): Promise<{ readonly revision: number; readonly objects: readonly Encoded[] }> {
    const { store, keys } = this.#place;
    const { to } = keys.all;
    const { signal } = this.#stop;
    const objects: Encoded[] = [];
    for (let { from } = keys.all, revision = at; ; ) {
      const options = { limit: PAGE, signal, ...(revision === undefined ? {} : { revision }) };
      const page = await store.range({ from, to }, options);
      revision = page.revision;
      for (const entry of page.entries) objects.push(this.#encoded(entry));
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) return { revision, objects };
      from = `${last.key}\0`;
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for (let wait: number = RETRY.first, lost = false; !signal.aborted; ) {
      const before = this.cache.head;
      try {
        if (lost) await this.#fill();
        lost = false;
        await this.#read();
        return;
      } catch (error) {
        if (signal.aborted || isClosed(error)) return;
        lost ||= isStoreError(error) && error.code === "Compacted";
        this.#options.onError(error);
      }
      if (this.cache.head !== before) wait = RETRY.first;
      const pause = delay(wait * (0.5 + Math.random() / 2), undefined, { signal, ref: false });
      await pause.catch(() => undefined);
      wait = Math.min(wait * 2, RETRY.last);
    }
  }

  /** Follows until the store is closed or we are stopped. @throws StoreError `Compacted` when history is missing */
  async #read(): Promise<void> {
    const { store, keys } = this.#place;
    const watch = store.watch(keys.all, { after: Number(this.cache.head), signal: this.#stop.signal });
    this.#watch = watch;
    watch.requestProgress();
    // Where nothing is written bookmarks would else stand still, until what they name has been compacted.
    const asking = setInterval(() => watch.requestProgress(), this.#options.progressEvery ?? PROGRESS).unref();
    try {
      for await (const batch of watch) this.#apply(batch);
    } finally {
      clearInterval(asking);
    }
  }

  #apply({ revision, events }: Batch): void {
    const version = String(revision);
    for (const { key, entry } of events) {
      if (entry === undefined) this.cache.delete(this.#place.keys.parse(key), version);
      else this.cache.set(this.#encoded(entry), version);
    }
    this.cache.advance(version);
  }

  #encoded(entry: Entry): Encoded {
    const { keys, records } = this.#place;
    return records.read(entry, keys.parse(entry.key), Buffer.allocUnsafeSlow);
  }
}

function isClosed(error: unknown): boolean {
  return isStoreError(error) && error.code === "Closed";
}
