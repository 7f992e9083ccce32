import { isApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { Stage } from "../pipeline.ts";

/**
 * Authentication, as much of it as the client's address may use up.
 *
 * Rejects with 429 before any authenticator is asked, when too many have failed or are under way.
 */
export function bounded(authenticate: Stage): Stage {
  return (exchange) => {
    const { core } = exchange;
    const refusal = core.strangers.refusal(exchange);
    if (refusal !== undefined) return core.fairness.refusals.later(exchange, refusal, "failed-authentications");
    try {
      const pending = authenticate(exchange);
      return pending && core.strangers.during(exchange, pending).catch((error: unknown) => failed(exchange, error));
    } catch (error) {
      return failed(exchange, error);
    }
  };
}

function failed(exchange: Exchange, error: unknown): never {
  const { core, user } = exchange;
  if (user === undefined && isApiError(error) && error.code === 401) core.strangers.failed(exchange);
  throw error;
}
