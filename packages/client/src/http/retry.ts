import { isApiError } from "@virtual-workspaces/apimachinery";
import { backoffDelay, isTransportError, retry, type TransportErrorCode } from "@virtual-workspaces/transport";
import type { RetryOptions } from "../options/retry.ts";
import { retryAfterOf } from "./error-of.ts";

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
