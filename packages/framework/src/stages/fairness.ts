import type { Exchange } from "../exchange.ts";

/**
 * Lets a request in, or has it wait until it is its user's turn.
 *
 * @throws ApiError 429 when too many wait already, or it has waited too long
 */
export function fairness(exchange: Exchange): void | Promise<void> {
  return exchange.core.fairness.enter(exchange);
}
