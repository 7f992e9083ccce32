import { isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError, type TransportErrorCode } from "@virtual-workspaces/transport";
import type { RetryOptions } from "../options/retry.ts";
import { wait } from "./wait.ts";

/** What doing a request twice does: nothing more (`safe`), perhaps harm (`unsafe`), or a caller begins again anyway (`watch`). */
export type Repeatable = "safe" | "unsafe" | "watch";

export interface Attempts {
  readonly repeatable: Repeatable;
  readonly signal: AbortSignal | undefined;
}

const PASSING = new Set([500, 502, 503, 504]);
const BROKEN = new Set<TransportErrorCode>(["connect", "reset", "timeout"]);

/** Does something until it is done, it makes no sense to try again, or there is no more time. @throws the last error */
export async function retrying<R>(
  options: Required<RetryOptions>,
  { repeatable, signal }: Attempts,
  attempt: () => Promise<R>,
): Promise<R> {
  const began = performance.now();
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted === true || made >= options.attempts || !mayTryAgain(error, repeatable)) throw error;
      const pause = retryAfter(error) ?? backoff(options, made);
      if (performance.now() - began + pause > options.total) throw error;
      await wait(pause, signal);
    }
  }
}

function mayTryAgain(error: unknown, repeatable: Repeatable): boolean {
  if (isApiError(error)) {
    if (error.code === 429) return true;
    return repeatable === "watch" ? error.code === 503 : repeatable === "safe" && PASSING.has(error.code);
  }
  if (!isTransportError(error) || repeatable === "watch" || !BROKEN.has(error.code)) return false;
  return repeatable === "safe" || (!error.delivered && error.code === "connect");
}

/** ms */
function retryAfter(error: unknown): number | undefined {
  const seconds = isApiError(error) ? error.status.details?.retryAfterSeconds : undefined;
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000;
}

function backoff({ first, longest }: Required<RetryOptions>, made: number): number {
  const time = Math.min(longest, first * 2 ** (made - 1));
  return time / 2 + (Math.random() * time) / 2;
}
