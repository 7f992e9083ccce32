import type { Exchange } from "../exchange.ts";
import { hopsOf, MOST_HOPS, tooManyHops } from "../request/hops.ts";

/** Ends requests that are passed on in a circle. Whoever says so without having been passed on hurts nobody else. */
export function hops(exchange: Exchange): void {
  exchange.hops = hopsOf(exchange.req.headers);
  if (exchange.hops >= MOST_HOPS) throw tooManyHops(exchange.via);
}
