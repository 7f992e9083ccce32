import { onAbort, untilAborted } from "@virtual-workspaces/transport";
/** Statistics of reviews. Counters start at zero. */
export interface ReviewStats {
  /** Reviews started, without their retries. */
  readonly asked: number;
  /** Checks answered from the cache. */
  readonly remembered: number;
  /** Checks that joined a review in progress. */
  readonly shared: number;
  /** Failed reviews. */
  readonly failed: number;
  /** Retries. */
  readonly retried: number;
  /** Total duration of all reviews, in ms. */
  readonly duration: number;
  /** Reviews in progress. */
  readonly inFlight: number;
  /** Reviews in the queue. */
  readonly waiting: number;
  /** Cached verdicts. */
  readonly kept: number;
}

export interface VerdictsOptions<V> {
  /** Time to cache positive verdicts, in ms. */
  readonly allowCache: number;
  /** Time to cache negative verdicts, in ms. */
  readonly denyCache: number;
  /** Maximum number of positive and of negative verdicts. */
  readonly maximum: number;
  readonly isYes: (verdict: V) => boolean;
  /** Returns the maximum time that a verdict is valid, in ms. @default unlimited */
  readonly holds?: (verdict: V) => number;
  /** Called once for each failed check. */
  readonly onError: (error: unknown) => void;
}

/**
 * Cached verdicts, and reviews in progress. Concurrent equal checks share one review. Positive and negative verdicts are
 * separate, so that a flood of denials evicts no positive ones. Failures are not cached.
 */
export class Verdicts<V> {
  readonly #options: VerdictsOptions<V>;
  readonly #yes: TtlMap<V>;
  readonly #no: TtlMap<V>;
  readonly #flights = new Map<string, Flight<V>>();
  readonly #counts = { asked: 0, remembered: 0, shared: 0, failed: 0, duration: 0 };

  constructor(options: VerdictsOptions<V>) {
    const { allowCache, denyCache, maximum } = options;
    this.#options = options;
    this.#yes = new TtlMap({ ttl: allowCache, maximum });
    this.#no = new TtlMap({ ttl: denyCache, maximum });
  }

  get stats(): Pick<ReviewStats, "asked" | "remembered" | "shared" | "failed" | "duration" | "kept"> {
    return { ...this.#counts, kept: this.#yes.size + this.#no.size };
  }

  /** Returns the cached verdict. */
  known(key: string): V | undefined {
    const verdict = this.#yes.get(key) ?? this.#no.get(key);
    if (verdict !== undefined) this.#counts.remembered += 1;
    return verdict;
  }

  /**
   * Runs `ask`, or joins an equal check in progress.
   *
   * @param signal ends the caller's wait, and the review if no other caller waits
   * @throws errors of `ask`, and the signal's reason
   */
  find(key: string, ask: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<V> {
    const underWay = this.#flights.get(key);
    if (underWay !== undefined && !underWay.abandoned) {
      this.#counts.shared += 1;
      return underWay.join(signal);
    }
    const flight: Flight<V> = new Flight(async (over) => {
      try {
        return await this.#ask(key, ask, over);
      } finally {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
      }
    });
    this.#flights.set(key, flight);
    return flight.join(signal);
  }

  async #ask(key: string, ask: (signal: AbortSignal) => Promise<V>, over: AbortSignal): Promise<V> {
    const began = performance.now();
    this.#counts.asked += 1;
    try {
      const verdict = await ask(over);
      const { isYes, holds } = this.#options;
      const [to, from] = isYes(verdict) ? [this.#yes, this.#no] : [this.#no, this.#yes];
      from.delete(key);
      to.set(key, verdict, holds?.(verdict));
      return verdict;
    } catch (error) {
      if (over.aborted) throw error;
      this.#counts.failed += 1;
      this.#options.onError(error);
      throw error;
    } finally {
      this.#counts.duration += performance.now() - began;
    }
  }
}

/** Check in progress, which several callers may share. */
class Flight<V> {
  readonly answer: Promise<V>;
  readonly #over = new AbortController();
  #waiting = 0;

  constructor(ask: (signal: AbortSignal) => Promise<V>) {
    this.answer = ask(this.#over.signal);
    // Waiting callers get the error; there may be none.
    this.answer.catch(() => undefined);
  }

  /** Whether all callers have left. */
  get abandoned(): boolean {
    return this.#over.signal.aborted;
  }

  /** Waits for the verdict. The last caller to leave cancels the check. @throws the signal's reason */
  async join(signal: AbortSignal | undefined): Promise<V> {
    this.#waiting += 1;
    if (signal === undefined) return this.answer;
    using _left = onAbort(signal, () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#over.abort(signal.reason);
    });
    return await untilAborted(this.answer, signal);
  }
}

interface TtlMapOptions {
  /** Time to keep a value, in ms; 0 disables it. */
  readonly ttl: number;
  /** Maximum number of values; the oldest is evicted first. */
  readonly maximum: number;
}

/** Map whose values expire. It uses monotonic time: setting the clock back extends nothing. */
class TtlMap<V> {
  readonly #options: TtlMapOptions;
  /** Entries by age, which is roughly the order of their expiry. */
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();

  constructor(options: TtlMapOptions) {
    this.#options = options;
  }

  /** Number of values, including those that expired since the last insertion. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && performance.now() < entry.until ? entry.value : undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** @param longest maximum time of this value, in ms */
  set(key: string, value: V, longest: number = Number.POSITIVE_INFINITY): void {
    const { ttl, maximum } = this.#options;
    const now = performance.now();
    const entries = this.#entries;
    entries.delete(key);
    for (const [old, { until }] of entries) {
      if (until > now) break;
      entries.delete(old);
    }
    const time = Math.min(ttl, longest);
    if (time <= 0) return;
    entries.set(key, { value, until: now + time });
    if (entries.size > maximum) entries.delete(entries.keys().next().value as string);
  }
}
