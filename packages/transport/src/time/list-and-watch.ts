import { Backoff, type BackoffOptions } from "./backoff.ts";
import { sleep } from "./clock.ts";

/** Next action of a {@link ListAndWatch}: it resumes the watch from the position, lists again, or ends. */
export type NextAttempt = "resume" | "relist" | "end";

/**
 * Source that can be listed and watched, with the cache that follows it (client-go: `ListerWatcher` and `Store`). A watch
 * resumes from a position: a resource version, or a revision.
 */
export interface ListerWatcher<Listed, Change, Position extends string | number> {
  /** Position up to which the cache is complete; `undefined` for an empty cache, for which the source is listed. */
  position(): Position | undefined;
  /** Reads all objects of the source. */
  list(signal: AbortSignal): Promise<Listed>;
  /** Replaces the content of the cache with a list, and sets the position. */
  replace(listed: Listed): void;
  /** Streams the changes after a position. The stream ends when the signal aborts. */
  watch(after: Position, signal: AbortSignal): AsyncIterable<Change> | Iterable<Change>;
  /** Applies one change to the cache, and moves the position. @returns `false` if the stream has a gap: the source is listed again */
  apply(change: Change): boolean;
  /** Called for each failure before the end. @param during operation that failed @returns the action after the backoff */
  failed(error: unknown, during: "list" | "watch"): NextAttempt;
  /** Whether a stream without an error only ends when the source is closed, which ends the loop. @default false: the watch resumes */
  readonly endsWithStream?: boolean;
  /**
   * Checks before a watch resumes whether the source must be listed instead. A source that was restored from a backup is
   * behind the position, and its watch would report nothing until it has caught up.
   * @default never
   */
  isStale?(position: Position, signal: AbortSignal): Promise<boolean>;
  /** Called when a watch works: with its first change, or after it has been open for a second. */
  answered?(): void;
}

/** Time after which an open watch counts as working, even without events, ms. */
const WORKS = 1_000;

/**
 * Loop that keeps a cache in step with a source (client-go: `Reflector.ListAndWatch`). It lists and watches from the position
 * of the list. It resumes when the stream ends, lists again when the stream has a gap, and backs off when the source fails.
 * Changes are applied one by one, in order.
 *
 * The backoff counts from the beginning of an attempt, since an attempt that hangs has waited already. A watch that moved the
 * position resets it. A watch that ends without an error after a second or more resumes at once. No delay keeps the process
 * running.
 */
export class ListAndWatch<Listed, Change, Position extends string | number> implements AsyncDisposable {
  /**
   * Lists the source now and replaces the content of the cache. The present watch ends and resumes from there. Concurrent
   * calls share a list that begins after them.
   *
   * @throws the error of `list`, and an AbortError after the end
   */
  readonly relist: () => Promise<void> = askedAfterNow(() => this.#list());
  readonly #source: ListerWatcher<Listed, Change, Position>;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #watching = new AbortController();
  #resting: AbortController | undefined;
  /** Whether the watch cannot resume. */
  #isLost = false;
  #running: Promise<void> | undefined;

  constructor(source: ListerWatcher<Listed, Change, Position>, backoff?: BackoffOptions) {
    this.#source = source;
    this.#backoff = new Backoff(backoff);
  }

  /** Aborts when the loop ends: when it is disposed of, or the source is closed. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Starts with a watch, or with a list if there is no position yet. */
  start(): void {
    this.#running ??= this.#run().finally(() => this.#stop.abort());
  }

  /** Ends the present backoff: the source is known to answer. */
  hurry(): void {
    this.#resting?.abort();
  }

  /** Ends the present watch, and resumes it. */
  rewatch(): void {
    this.#watching.abort();
  }

  /** Ends the loop. Resolves when the source's list or stream has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#watching.abort();
    this.#resting?.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this;
    while (!signal.aborted) {
      const began = performance.now();
      const next = await this.#attempt();
      if (next === "end" || signal.aborted) return;
      this.#isLost ||= next === "relist";
      const waited = performance.now() - began;
      if (next === "ended" && waited >= WORKS) this.#backoff.reset();
      else await this.#rest(this.#backoff.next({ waited }));
    }
  }

  async #attempt(): Promise<NextAttempt | "ended"> {
    const source = this.#source;
    let during: "list" | "watch" = "list";
    try {
      const known = source.position();
      const mustList = this.#isLost || known === undefined || (await source.isStale?.(known, this.signal)) === true;
      if (mustList) await this.relist();
      during = "watch";
      return await this.#watch();
    } catch (error) {
      return this.signal.aborted ? "end" : source.failed(error, during);
    }
  }

  async #list(): Promise<void> {
    const listed = await this.#source.list(this.signal);
    this.signal.throwIfAborted();
    this.#isLost = false;
    // Further events of the present watch are older, or will come again.
    this.#watching.abort();
    this.#source.replace(listed);
  }

  async #watch(): Promise<NextAttempt | "ended"> {
    const source = this.#source;
    if (this.signal.aborted) return "end";
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    const before = source.position() as Position;
    let isAnswered = false;
    const answered = (): void => {
      isAnswered = true;
      source.answered?.();
    };
    const silence = source.answered && setTimeout(answered, WORKS).unref();
    try {
      for await (const change of source.watch(before, signal)) {
        if (signal.aborted) return "ended";
        if (!isAnswered) answered();
        if (!source.apply(change)) return "relist";
      }
      return source.endsWithStream === true && !signal.aborted ? "end" : "ended";
    } catch (error) {
      if (!signal.aborted) throw error;
      return "ended";
    } finally {
      clearTimeout(silence);
      if (source.position() !== before) this.#backoff.reset();
    }
  }

  async #rest(ms: number): Promise<void> {
    const resting = new AbortController();
    this.#resting = resting;
    await sleep(ms, { signal: resting.signal, ref: false });
    this.#resting = undefined;
  }
}

/** Shares calls whose results must not be older than the call: calls during a running one share the next one. */
export function askedAfterNow<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const put = (): Promise<T> => {
    if (underWay === undefined) {
      underWay = ask().finally(() => {
        underWay = undefined;
      });
      return underWay;
    }
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return put();
      });
    return next;
  };
  return put;
}
