import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource, Verb } from "../served.ts";
import { serveGet } from "./get.ts";
import { serveList } from "./list.ts";
import { serveWatch } from "./watch.ts";

/** Answers a request about objects. */
export function serveResource(exchange: Exchange, resource: ServedResource): void | Promise<void> {
  const { info } = exchange;
  checkScope(exchange, resource);
  if (info.subresource !== "") throw ApiError.notFoundPath();
  if (!resource.verbs.includes(info.verb as Verb))
    throw ApiError.methodNotAllowed(groupResourceOf(resource.definition), info.verb);
  if (info.verb === "get") return serveGet(exchange, resource);
  return info.verb === "watch" ? serveWatch(exchange, resource) : serveList(exchange, resource);
}

/** Namespaced kinds are addressed by namespace and name, cluster-scoped ones by name. */
function checkScope({ info }: Exchange, { definition }: ServedResource): void {
  if (definition.scope === "Cluster" && info.namespace !== "") throw ApiError.notFoundPath();
  if (definition.scope === "Namespaced" && info.namespace === "" && info.verb === "get") throw ApiError.notFoundPath();
}
