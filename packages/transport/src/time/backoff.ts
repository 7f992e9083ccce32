import { type SleepOptions, sleep } from "./clock.ts";

/** Delays after consecutive failures. */
export interface BackoffOptions {
  /** Delay after the first failure, ms. @default 250 */
  readonly first?: number;
  /** Maximum delay before jitter, ms. @default 5000: with the time of a failing request, clients are back within 15 s of the server */
  readonly most?: number;
  /** Factor between consecutive delays. @default 2 */
  readonly factor?: number;
  /**
   * Range of the random factor on each delay: clients that failed together do not return together. `[1, 1]`: no jitter.
   * @default [0.5, 1]
   */
  readonly jitter?: readonly [least: number, most: number];
  /** Returns a number from 0 up to 1. @default Math.random */
  readonly random?: () => number;
}

/** Further inputs of the delay after one failure. */
export interface FailureTerms {
  /** Delay that the server requests (`Retry-After`), ms: a lower bound, up to 5 minutes. @default 0 */
  readonly retryAfter?: number;
  /** Time already spent waiting for the failed attempt, ms: subtracted from the delay. @default 0 */
  readonly waited?: number;
}

/** Limit on the delay that a server can request, ms. */
const LONGEST_RETRY_AFTER = 300_000;

/** Returns the delay after consecutive failures, ms. @param failures including the last one: 1 or more */
export function backoffDelay(failures: number, options: BackoffOptions = {}): number {
  const { first = 250, most = 5_000, factor = 2, jitter = [0.5, 1], random = Math.random } = options;
  const [least, greatest] = jitter;
  return Math.min(most, first * factor ** (failures - 1)) * (least + (greatest - least) * random());
}

/** Delays that grow with each failure until a success. client-go: `wait.Backoff`. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  /** Number of failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Resets the delays after a success. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure. @returns the delay before the next attempt, ms */
  next({ retryAfter = 0, waited = 0 }: FailureTerms = {}): number {
    this.#failures += 1;
    const delay = backoffDelay(this.#failures, this.#options) - waited;
    return Math.max(delay, 0, Math.min(retryAfter, LONGEST_RETRY_AFTER));
  }
}

/** Policy of {@link retry} after a failure. */
export interface RetryPolicy extends SleepOptions {
  /**
   * Returns the delay before the next attempt, ms; throws the error that ends `retry`.
   *
   * @param failures including this one: 1 or more
   */
  readonly delayAfter: (error: unknown, failures: number) => number;
}

/**
 * Repeats an attempt until it succeeds, the policy throws, or the signal aborts.
 *
 * @throws the error of `delayAfter`; the error of an attempt that fails after the abort; the signal's reason, if it aborts
 * during a delay
 */
export async function retry<T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { delayAfter, signal } = policy;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted === true) throw error;
      await sleep(delayAfter(error, failures), policy);
      signal?.throwIfAborted();
    }
  }
}
