import { setTimeout as delay } from "node:timers/promises";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { Past } from "../storage.ts";
import { type HistoryOptions, WatchCache } from "./cache/watch-cache.ts";
import { askedAfterNow } from "./source.ts";
import { SourceReader, type SourceReaderOptions, SourceRejection, StreamWriter } from "./source-reader.ts";

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
/** Milliseconds between the beginnings of attempts on a failing source: doubled each time, with jitter. */
const RETRY = { first: 100, last: 10_000 } as const;
/** A stream that ended well after so long is asked again at once, ms. */
const WELL = 1_000;

/**
 * Keeps a {@link WatchCache} in step with a source that can list and tell changes (what client-go calls a reflector). When
 * the source refuses to be read any more (403, 404), the cache is emptied: who may not see the objects must not go on to.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #stop = new AbortController();
  readonly #reader: SourceReader;
  readonly #cache: WatchCache;
  readonly #refusal = new SourceRejection();
  #running: Promise<void> = Promise.resolve();
  #stream = new AbortController();
  #lost = false;
  /** Why the source does not tell of changes, although it may be listed. */
  #untold: unknown;
  /** Settled when the stream that is asked for next, or was last, tells something or fails. */
  #attempt = Promise.withResolvers<void>();
  #pause = new AbortController();
  readonly #headNow = askedAfterNow(() => this.#reader.head());
  readonly #compareNow = askedAfterNow(() => this.#compare());
  readonly #listNow = askedAfterNow(() => this.#relist());

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#reader = new SourceReader({ ...options, signal: this.#stop.signal });
    this.#cache = new WatchCache({ version: "0", ...(options.history && { history: options.history }) });
  }

  /** Lists once and starts to follow. @throws what the source's list throws */
  async start(): Promise<{ readonly cache: WatchCache; readonly past: Past | undefined }> {
    const { items, version } = await this.#reader.list();
    this.#cache.reset(items, version, "");
    this.#running = this.#follow();
    const { source, scope } = this.#options;
    return { cache: this.#cache, past: source.past?.(scope, this.#cache) };
  }

  /** Resolves when the source's stream has ended, or does not end although it was told to. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stream.abort();
    this.#pause.abort();
    const patience = new AbortController();
    await Promise.race([
      this.#running,
      delay(STOP_TIMEOUT, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
  }

  /** Resolves unless the source refuses to be read, which it is asked again. @throws ApiError what it says */
  async permitted(): Promise<void> {
    if (this.#refusal.stands) await this.#listNow();
    if (this.#untold !== undefined) await this.#triedNow();
    if (this.#untold !== undefined) throw this.#untold;
  }

  /** Resolves when the stream has been asked for at once, and tells or has failed. */
  async #triedNow(): Promise<void> {
    const { promise } = this.#attempt;
    this.#pause.abort();
    await Promise.race([promise, delay(CONFIRM_TIMEOUT, undefined, { ref: false })]);
  }

  #tried(): void {
    this.#attempt.resolve();
    this.#attempt = Promise.withResolvers();
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
    if (compareResourceVersions(head, before) < 0) return this.#listNow();
    const deadline = performance.now() + CONFIRM_TIMEOUT;
    for (let patience = SILENCE; performance.now() < deadline; patience *= 2) {
      if (await reachedWithin(this.#cache, head, { signal, timeout: patience })) return;
      await this.#compareNow();
    }
    if (this.#cache.reached(head)) return;
    this.#stream.abort();
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

  /** Begins anew with what the source has now. @throws what its list throws; a refusal empties the cache */
  async #relist(): Promise<void> {
    const cache = this.#cache;
    try {
      const { items, version } = await this.#reader.list();
      this.#refusal.lift();
      this.#lost = false;
      // What the stream under way tells is older, or comes again.
      this.#stream.abort();
      cache.reset(items, version, "too old resource version: the source of this view lost its history");
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
    this.#lost ||= this.#refusal.stands;
  }

  async #follow(): Promise<void> {
    const cache = this.#cache;
    const { longestRetry = RETRY.last } = this.#options;
    let wait: number = RETRY.first;
    let failed = false;
    while (!this.#stop.signal.aborted) {
      const began = performance.now();
      const before = cache.head;
      const pausing = new AbortController();
      this.#pause = pausing;
      let reading = false;
      try {
        if (failed && !this.#lost) await this.#notRewound();
        failed = false;
        if (this.#lost) await this.#listNow();
        reading = true;
        this.#lost = await this.#read();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        failed = true;
        this.#lost ||= isApiError(error) && error.code === 410;
        this.#refuse(error);
        if (reading && this.#refusal.stands) this.#untold = error;
        // A refusal is an answer: readers are told.
        if (!this.#refusal.stands) this.#options.onError(error);
        this.#tried();
      }
      const well = !failed && !this.#lost && performance.now() - began >= WELL;
      if (cache.head !== before || well) wait = RETRY.first;
      if (well) continue;
      // What waited for an answer has waited: one that hangs must not be followed by a pause besides.
      const until = began + Math.min(wait, longestRetry) * (0.5 + Math.random() / 2);
      const pause = Math.max(0, until - performance.now());
      await delay(pause, undefined, { signal: pausing.signal, ref: false }).catch(() => undefined);
      wait = Math.min(wait * 2, longestRetry);
    }
  }

  /**
   * A source that was away may come back with an older state, from a backup: its stream would tell nothing until its versions
   * have caught up with ours. It is listed again then.
   */
  async #notRewound(): Promise<void> {
    if (this.#options.source.head === undefined) return;
    const { head } = this.#cache;
    if (compareResourceVersions(await this.#headNow(), head) < 0) await this.#listNow();
  }

  /** Reads one stream to its end. @returns whether the source has lost its history */
  async #read(): Promise<boolean> {
    const { definition, scope } = this.#options;
    const cache = this.#cache;
    const stream = new AbortController();
    this.#stream = stream;
    if (this.#stop.signal.aborted) return false;
    const writer = new StreamWriter({ definition, scope, cache, reader: this.#reader });
    // One that says nothing, and goes on for so long, has been let in as well.
    const letIn = setTimeout(() => this.#tells(), WELL).unref();
    try {
      for await (const change of this.#reader.changes(cache.head, stream.signal)) {
        if (stream.signal.aborted) return this.#lost;
        if (this.#untold !== undefined) this.#tells();
        if (change.type === "expired") return true;
        writer.write(change);
      }
    } catch (error) {
      if (!stream.signal.aborted) throw error;
    } finally {
      clearTimeout(letIn);
    }
    return this.#lost;
  }

  #tells(): void {
    this.#untold = undefined;
    this.#tried();
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
