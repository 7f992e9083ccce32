import { isApiError } from "@virtual-workspaces/apimachinery";

/** How long to wait after failures. */
export interface BackoffOptions {
  /** After the first, ms. @default 250 */
  readonly first: number;
  /** At most, ms. @default 5000: with the time that a dead request takes, less than 15 s after a server is back */
  readonly most: number;
}

export const LONGEST_WAIT = 5_000;
/** The longest that a server can make us wait (`Retry-After`), ms. */
const LONGEST = 300_000;

/** Waits that double with each failure, each by chance between half and all of it, so that not all clients come at once. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: Partial<BackoffOptions> = {}) {
    this.#options = { first: 250, most: LONGEST_WAIT, ...options };
  }

  /** How often it has failed since it last worked. */
  get failures(): number {
    return this.#failures;
  }

  /** It worked. */
  reset(): void {
    this.#failures = 0;
  }

  /**
   * How long to wait now, ms. What the server asks for is waited for, up to 5 minutes.
   *
   * @param waited for an answer that did not come, ms: it counts
   */
  next(error?: unknown, waited = 0): number {
    const { first, most } = this.#options;
    const full = Math.min(most, first * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 30);
    const asked = isApiError(error) ? (error.status.details?.retryAfterSeconds ?? 0) * 1000 : 0;
    return Math.max((full * (1 + Math.random())) / 2 - waited, 0, Math.min(asked, LONGEST));
  }
}
