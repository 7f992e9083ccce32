import type { Exchange } from "../exchange.ts";
import { METRICS_PATH } from "../observe/metrics/metrics.ts";

/** Finds the virtual workspace. A malformed URL is refused here; an unknown one after authentication. */
export function match(exchange: Exchange): void {
  const { metrics } = exchange.core;
  if (metrics !== undefined && exchange.path === METRICS_PATH) {
    Object.assign(exchange, { mounted: metrics, params: {}, prefix: "", tail: METRICS_PATH });
    return;
  }
  const found = exchange.core.matcher.match(exchange.path);
  if (found.kind === "bad-request") throw found.error;
  if (found.kind === "no-match") {
    exchange.unknown = found.error;
    return;
  }
  exchange.misfit = found.misfit;
  exchange.mounted = found.view;
  exchange.params = found.params;
  exchange.prefix = found.prefix;
  exchange.tail = found.tail;
}
