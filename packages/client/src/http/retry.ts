import { isApiError } from "@virtual-workspaces/apimachinery";
import { backoffDelay, isTransportError, retry, type TransportErrorCode } from "@virtual-workspaces/transport";
import { retryAfterOf } from "./answer.ts";

/** Effect of sending a request twice: none (`safe`), possible harm (`unsafe`), or the caller starts again anyway (`watch`). */
export type Repeatable = "safe" | "unsafe" | "watch";

export interface Attempts {
  readonly repeatable: Repeatable;
  readonly signal: AbortSignal | undefined;
}

const PASSING = new Set([500, 502, 503, 504]);
const BROKEN = new Set<TransportErrorCode>(["connect", "reset", "timeout"]);

/** Retries an operation until it succeeds, a retry is pointless, or the time is up. @throws the last error */
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
 * Retry policy. A client never retries after the signal aborts, and retries only if that is harmless:
 *
 * - every request after 429, which the server did not process, and after a failed connection attempt;
 * - reads, dry runs and applies, which are idempotent, after 500, 502, 503, 504 and broken connections.
 *
 * A create, update, patch or delete that the server may have processed is not retried: read the object, then decide. The
 * client waits for `Retry-After`; without it, the delay doubles, with 50% jitter. It retries a watch only after 429 or 503,
 * since watchers reconnect by themselves. Unlike client-go there is no limit of requests per second: the server sends 429
 * under load, and `connections` of the upstream limits concurrency.
 */
export interface RetryOptions {
  /** Maximum number of attempts. @default 5 */
  readonly attempts?: number;
  /** First delay without `Retry-After`, in ms. @default 200 */
  readonly first?: number;
  /** Maximum delay without `Retry-After`, in ms. @default 5000 */
  readonly longest?: number;
  /** Time after the first attempt within which retries may start, in ms. A longer `Retry-After` ends the retries. @default 30000 */
  readonly total?: number;
}

export const defaultRetries: Required<RetryOptions> = Object.freeze({
  attempts: 5,
  first: 200,
  longest: 5_000,
  total: 30_000,
});
