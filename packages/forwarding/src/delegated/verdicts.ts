import { Flight } from "./flight.ts";
import { Remembered } from "./remembered.ts";
import type { ReviewStats } from "./stats.ts";

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
  readonly #yes: Remembered<V>;
  readonly #no: Remembered<V>;
  readonly #flights = new Map<string, Flight<V>>();
  readonly #counts = { asked: 0, remembered: 0, shared: 0, failed: 0, duration: 0 };

  constructor(options: VerdictsOptions<V>) {
    const { allowCache, denyCache, maximum } = options;
    this.#options = options;
    this.#yes = new Remembered({ ttl: allowCache, maximum });
    this.#no = new Remembered({ ttl: denyCache, maximum });
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
