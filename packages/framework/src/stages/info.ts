import type { Exchange } from "../exchange.ts";
import { requestInfo } from "../request/request-info.ts";

/** Says what the request is about. */
export function info(exchange: Exchange): void {
  if (exchange.unknown !== undefined) return;
  exchange.info = requestInfo(exchange);
  if (exchange.upgradeHead !== undefined) exchange.info = { ...exchange.info, longRunning: true, upgrade: true };
}
