import { onAbort, untilAborted } from "@virtual-workspaces/transport";
/** What became of questions that another server decides. Counts are since the beginning. */
export interface ReviewStats {
  /** Reviews that were begun, however often each had to be sent. */
  readonly asked: number;
  /** Questions that were answered from memory. */
  readonly remembered: number;
  /** Questions that waited for a review that was under way already. */
  readonly shared: number;
  /** Reviews that came to nothing. */
  readonly failed: number;
  /** How often a review was sent again. */
  readonly retried: number;
  /** How long all reviews together took, ms. */
  readonly duration: number;
  /** Reviews that the other server has now. */
  readonly inFlight: number;
  /** Reviews that wait for their turn now. */
  readonly waiting: number;
  /** Verdicts that are kept now. */
  readonly kept: number;
}

export interface VerdictsOptions<V> {
  /** How long a yes is remembered, ms. */
  readonly allowCache: number;
  /** How long a no is. */
  readonly denyCache: number;
  /** How many are kept, of yes and of no each. */
  readonly maximum: number;
  readonly isYes: (verdict: V) => boolean;
  /** How long a verdict holds at most, ms. @default for ever */
  readonly holds?: (verdict: V) => number;
  /** Told once of each question that came to nothing. */
  readonly onError: (error: unknown) => void;
}

/**
 * What another server has decided, and what it is being asked. Equal questions at a time are one; a yes and a no are kept
 * apart, so that a flood of what is refused drives out nothing that is allowed; a failure is not kept at all.
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

  /** What is remembered. */
  known(key: string): V | undefined {
    const verdict = this.#yes.get(key) ?? this.#no.get(key);
    if (verdict !== undefined) this.#counts.remembered += 1;
    return verdict;
  }

  /**
   * What `ask` says, or what it is about to say to another who has asked the same.
   *
   * @param signal ends the caller's waiting, and the asking when nobody else waits
   * @throws what `ask` throws, and the signal's reason
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

/** One question that is being asked, for everybody who waits for its answer. */
class Flight<V> {
  readonly answer: Promise<V>;
  readonly #over = new AbortController();
  #waiting = 0;

  constructor(ask: (signal: AbortSignal) => Promise<V>) {
    this.answer = ask(this.#over.signal);
    // Those who wait are told; when nobody does any more, nobody need be.
    this.answer.catch(() => undefined);
  }

  /** Whether all who waited have left. */
  get abandoned(): boolean {
    return this.#over.signal.aborted;
  }

  /** The answer, for as long as the caller waits. The last to leave ends the asking. @throws the signal's reason */
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
  /** How long a value is kept, ms; 0: not at all. */
  readonly ttl: number;
  /** The most that are kept at once; the oldest goes first. */
  readonly maximum: number;
}

/** Values by key, each for a while. Time is monotonic: a clock that is set back makes nothing live longer. */
class TtlMap<V> {
  readonly #options: TtlMapOptions;
  /** In the order in which they came, which is about the order in which they end. */
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();

  constructor(options: TtlMapOptions) {
    this.#options = options;
  }

  /** How many are kept, those included that have ended since the last one came. */
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

  /** @param longest ms, if that is less than others are kept */
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
