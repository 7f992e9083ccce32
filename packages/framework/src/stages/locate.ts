import { isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { HookRequest } from "../hooks/hook-request.ts";
import type { Located } from "../virtual-workspace.ts";

/**
 * Has the virtual workspace say which logical cluster is meant: from here on that is the one that the request is about.
 *
 * @throws ApiError what the hook answers; Error when that is no name of a logical cluster
 */
export function locate(exchange: Exchange): void | Promise<void> {
  const { locate } = exchange.mounted.workspace;
  if (locate === undefined) return undefined;
  const said = exchange.cluster;
  if (said === WILDCARD) return found(exchange, said);
  const place = locate(said, new HookRequest(exchange));
  if (place instanceof Promise) return place.then((late) => checked(exchange, late));
  return checked(exchange, place);
}

/** All clusters at once is nothing that one of them could turn out to be. */
function checked(exchange: Exchange, place: string | Located): void {
  const isNamed = typeof place === "string";
  const name = isNamed ? place : place?.cluster;
  if (typeof name !== "string" || !isClusterName(name))
    throw new Error(`locate must return the name of a logical cluster: it returned ${JSON.stringify(place)}`);
  if (!isNamed) exchange.params = { ...place.params, ...exchange.params };
  found(exchange, name);
}

function found(exchange: Exchange, name: string): void {
  exchange.located = true;
  if (name === exchange.cluster) return;
  // Anew: whoever was asked before may have kept the other.
  exchange.params = { ...exchange.params, cluster: name };
}
