import { backoffDelay } from "@virtual-workspaces/transport";

/** How soon what failed is tried again: client-go's `DefaultTypedControllerRateLimiter`, and jitter. */
export interface RateLimitOptions {
  /** After the first failure of a key, ms; each further one doubles it. @default 5 */
  readonly base?: number;
  /** The longest, ms. @default 1,000,000 */
  readonly max?: number;
  /** The part of a delay that is added to it at most, at random, so that what failed together does not come together. @default 0 */
  readonly jitter?: number;
  /** How many retries of all keys a second, after a burst. Infinity: any number. @default 10 */
  readonly perSecond?: number;
  /** How many retries at once. @default 100 */
  readonly burst?: number;
}

/** Exponential delays for each key, and a token bucket over all of them: the longer of the two. */
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

  /** ms to wait. @param failures so far, without this one @param now ms of a clock */
  delay(failures: number, now: number): number {
    const { base, max, jitter } = this.#options;
    const backoff = { first: base, most: max, jitter: [1, 1 + jitter], random: this.#random } as const;
    const own = Math.min(max, backoffDelay(failures + 1, backoff));
    return Math.max(own, this.#reserve(now));
  }

  /** As golang.org/x/time/rate reserves: a token that is not there yet is owed, and waited for. */
  #reserve(now: number): number {
    const { perSecond, burst } = this.#options;
    if (perSecond === Number.POSITIVE_INFINITY) return 0;
    const grown = this.#tokens + (Math.max(0, now - this.#filledAt) / 1000) * perSecond;
    this.#tokens = Math.min(burst, grown) - 1;
    this.#filledAt = now;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / perSecond) * 1000;
  }
}
