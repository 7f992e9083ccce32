import { isApiError } from "@virtual-workspaces/apimachinery";
import { backoffDelay, isTransportError, retry, type TransportErrorCode } from "@virtual-workspaces/transport";
import { retryAfterOf } from "./answer.ts";

/** What doing a request twice does: nothing more (`safe`), perhaps harm (`unsafe`), or a caller begins again anyway (`watch`). */
export type Repeatable = "safe" | "unsafe" | "watch";

export interface Attempts {
  readonly repeatable: Repeatable;
  readonly signal: AbortSignal | undefined;
}

const PASSING = new Set([500, 502, 503, 504]);
const BROKEN = new Set<TransportErrorCode>(["connect", "reset", "timeout"]);

/** Does something until it is done, it makes no sense to try again, or there is no more time. @throws the last error */
export function retrying<R>(
  { attempts, first, longest, total }: Required<RetryOptions>,
  { repeatable, signal }: Attempts,
  attempt: () => Promise<R>,
): Promise<R> {
  const began = performance.now();
  const delayAfter = (error: unknown, made: number): number => {
    if (made >= attempts || !mayTryAgain(error, repeatable)) throw error;
    const delay = retryAfterOf(error) || backoffDelay(made, { first, most: longest });
    if (performance.now() - began + delay > total) throw error;
    return delay;
  };
  return retry(attempt, { signal, delayAfter });
}

function mayTryAgain(error: unknown, repeatable: Repeatable): boolean {
  if (isApiError(error)) {
    if (error.code === 429) return true;
    return repeatable === "watch" ? error.code === 503 : repeatable === "safe" && PASSING.has(error.code);
  }
  if (!isTransportError(error) || repeatable === "watch" || !BROKEN.has(error.code)) return false;
  return repeatable === "safe" || (!error.delivered && error.code === "connect");
}

/**
 * What is sent again, and how often. Never beyond the signal, never what is not known to be harmless:
 *
 * - 429 (the server did nothing) and connections that could not be made: every request;
 * - 500, 502, 503, 504, and connections that end before the answer: reads, dry runs and applies, which can be done twice.
 *   A create, update, patch or delete that may have been done is not: read the object, and decide.
 *
 * `Retry-After` is waited for; without one the time doubles, half of it by chance. Watches are begun again after a 429 or a 503
 * only: whoever watches goes on by itself. There is no limit of requests per second as client-go has: the server says
 * when it has enough (429), and `connections` of the upstream bounds what is under way.
 */
export interface RetryOptions {
  /** How often a request is sent at most. @default 5 */
  readonly attempts?: number;
  /** The first wait without `Retry-After`, ms. @default 200 */
  readonly first?: number;
  /** The longest wait without `Retry-After`, ms. @default 5000 */
  readonly longest?: number;
  /** From the first attempt on no other one begins after so long, ms: a `Retry-After` beyond is not waited for. @default 30000 */
  readonly total?: number;
}

export const defaultRetries: Required<RetryOptions> = Object.freeze({
  attempts: 5,
  first: 200,
  longest: 5_000,
  total: 30_000,
});
