import { type SleepOptions, sleep } from "./clock.ts";

/** How long to wait after failures in a row. */
export interface BackoffOptions {
  /** The delay after the first failure, ms. @default 250 */
  readonly first?: number;
  /** The longest delay, ms, before jitter. @default 5000: with the time that a dead request takes, less than 15 s after a server is back */
  readonly most?: number;
  /** How much longer each delay is than the one before. @default 2 */
  readonly factor?: number;
  /**
   * The least and the most that a delay is multiplied by, at random, so that clients that failed together do not come back together.
   * `[1, 1]`: no jitter. @default [0.5, 1]
   */
  readonly jitter?: readonly [least: number, most: number];
  /** A number from 0 up to 1. @default Math.random */
  readonly random?: () => number;
}

/** What the delay after one failure also depends on. */
export interface FailureTerms {
  /** What the server asked for (`Retry-After`), ms: the delay is at least that, up to 5 minutes. @default 0 */
  readonly retryAfter?: number;
  /** How long an answer was waited for that did not come, ms: the delay is so much shorter. @default 0 */
  readonly waited?: number;
}

/** The longest that a server can make a client wait, ms. */
const LONGEST_RETRY_AFTER = 300_000;

/** The delay after so many failures in a row, ms. @param failures with the last one: 1 or more */
export function backoffDelay(failures: number, options: BackoffOptions = {}): number {
  const { first = 250, most = 5_000, factor = 2, jitter = [0.5, 1], random = Math.random } = options;
  const [least, greatest] = jitter;
  return Math.min(most, first * factor ** (failures - 1)) * (least + (greatest - least) * random());
}

/** Delays that grow with each failure until something worked. client-go: `wait.Backoff`. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  /** How often it has failed since it last worked. */
  get failures(): number {
    return this.#failures;
  }

  /** It worked. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure. @returns how long to wait before the next attempt, ms */
  next({ retryAfter = 0, waited = 0 }: FailureTerms = {}): number {
    this.#failures += 1;
    const delay = backoffDelay(this.#failures, this.#options) - waited;
    return Math.max(delay, 0, Math.min(retryAfter, LONGEST_RETRY_AFTER));
  }
}

/** What {@link retry} does after a failure. */
export interface RetryPolicy extends SleepOptions {
  /**
   * How long to wait before the next attempt, ms; throws what `retry` is to end with.
   *
   * @param failures with this one: 1 or more
   */
  readonly delayAfter: (error: unknown, failures: number) => number;
}

/**
 * Attempts something until it works, the policy throws, or the signal aborts.
 *
 * @throws what `delayAfter` throws; the error of an attempt that fails once the signal has aborted; the signal's reason, if it aborts during a delay
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
