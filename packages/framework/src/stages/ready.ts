import type { Exchange } from "../exchange.ts";

/** A virtual workspace that is not ready yet says so, rather than that something is not there. */
export function ready(exchange: Exchange): void {
  const problem = exchange.mounted.problem();
  if (problem !== undefined) throw problem;
}
