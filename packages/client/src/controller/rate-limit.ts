import { backoffDelay } from "@virtual-workspaces/transport";

/** Backoff of failed keys: client-go's `DefaultTypedControllerRateLimiter`, with jitter. */
export interface RateLimitOptions {
  /** Delay after the first failure of a key, in ms. Each further failure doubles it. @default 5 */
  readonly base?: number;
  /** Maximum delay, in ms. @default 1,000,000 */
  readonly max?: number;
  /** Fraction of a delay to add at most, at random, so that keys that failed together are not retried together. @default 0 */
  readonly jitter?: number;
  /** Retries of all keys per second, after a burst. Infinity disables the limit. @default 10 */
  readonly perSecond?: number;
  /** Number of retries allowed at once. @default 100 */
  readonly burst?: number;
}

/** Rate limiter with an exponential delay for each key and one token bucket for all keys. The longer delay counts. */
export class RateLimit {
  readonly #options: Required<RateLimitOptions>;
  readonly #random: () => number;
  #tokens: number;
  #filledAt = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimitOptions = {}, random: () => number = Math.random) {
    this.#options = { base: 5, max: 1_000_000, jitter: 0, perSecond: 10, burst: 100, ...options };
    this.#random = random;
    this.#tokens = this.#options.burst;
  }

  /** Returns the delay, in ms. @param failures before this one @param now in ms of a clock */
  delay(failures: number, now: number): number {
    const { base, max, jitter } = this.#options;
    const backoff = { first: base, most: max, jitter: [1, 1 + jitter], random: this.#random } as const;
    const own = Math.min(max, backoffDelay(failures + 1, backoff));
    return Math.max(own, this.#reserve(now));
  }

  /** Reserves a token as golang.org/x/time/rate does: a missing token is owed, and adds to the delay. */
  #reserve(now: number): number {
    const { perSecond, burst } = this.#options;
    if (perSecond === Number.POSITIVE_INFINITY) return 0;
    const grown = this.#tokens + (Math.max(0, now - this.#filledAt) / 1000) * perSecond;
    this.#tokens = Math.min(burst, grown) - 1;
    this.#filledAt = now;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / perSecond) * 1000;
  }
}
