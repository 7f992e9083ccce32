import type { Exchange } from "../exchange.ts";

/** The first audit event, once it is known who asks. Holds the request back when events cannot be written fast enough. */
export function audit(exchange: Exchange): void | Promise<void> {
  return exchange.core.auditor?.received(exchange);
}
