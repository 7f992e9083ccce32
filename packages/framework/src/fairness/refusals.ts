import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";

/** How long a refusal is held back, ms: about what `Retry-After` asks of a client, at random, so that a burst does not come again as one. */
const HELD = { least: 500, more: 1000 } as const;
/** Refusals that are held back at a time; each keeps its request. The others are answered at once. */
const MOST = 5000;

/** In metrics, as far as Kubernetes has a word for it in its own. */
export type RefusalReason = "queue-full" | "time-out" | "concurrency-limit" | "failed-authentications";

/**
 * Answers 429 about a second late. Clients that do what `Retry-After` says lose nothing worth telling; one that comes again at
 * once would cost as much as if it were served, and take the event loop from all others.
 */
export class Refusals {
  readonly #held = new Set<() => void>();

  /** Counts it under `reason`, and rejects with `error`: after a while, or when the client has left or the server stops. */
  later(exchange: Exchange, error: ApiError, reason: RefusalReason): Promise<never> {
    exchange.core.meters.rejected.add(reason);
    if (this.#held.size >= MOST) return Promise.reject(error);
    return new Promise((_resolve, reject) => {
      const refuse = (): void => {
        clearTimeout(timer);
        this.#held.delete(refuse);
        reject(error);
      };
      const timer = setTimeout(refuse, HELD.least + HELD.more * Math.random()).unref();
      this.#held.add(refuse);
      exchange.res.once("close", refuse);
    });
  }

  /** Answers all that are held back. */
  drain(): void {
    for (const refuse of this.#held) refuse();
  }
}
