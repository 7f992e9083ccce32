import { isApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { nonResource, requestInfo } from "../request-info.ts";

/** Says what the request is about. A path that only a raw handler can make sense of is about nothing but itself. */
export function info(exchange: Exchange): void {
  if (exchange.unknown !== undefined) return;
  const method = exchange.req.method ?? "GET";
  const { tail, mounted } = exchange;
  try {
    exchange.info = requestInfo({ method, tail, query: exchange.query });
  } catch (error) {
    if (!mounted.rawTail) {
      if (!isApiError(error) || error.code !== 404) throw error;
      exchange.unknown = error;
    }
    exchange.info = nonResource(method, tail);
  }
  if (exchange.upgradeHead !== undefined) exchange.info = { ...exchange.info, longRunning: true };
}
