import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource, Verb } from "../served.ts";
import { serveGet } from "./get.ts";
import { serveList } from "./list.ts";
import { serveWatch } from "./watch.ts";

/** Answers a request about objects. */
export function serveResource(exchange: Exchange, resource: ServedResource): void | Promise<void> {
  place(exchange, resource);
  const { info, req } = exchange;
  if (info.subresource !== "") throw ApiError.notFoundPath();
  const { method = "" } = req;
  const reads = method === "GET" || (method === "HEAD" && info.verb !== "watch");
  if (!reads || !resource.verbs.includes(info.verb as Verb)) {
    const verb = info.verb === "" || method === "HEAD" ? method : info.verb;
    throw ApiError.methodNotAllowed(groupResourceOf(resource.definition), verb);
  }
  if (info.verb === "get") return serveGet(exchange, resource);
  return info.verb === "watch" ? serveWatch(exchange, resource) : serveList(exchange, resource);
}

/** Namespaced kinds are addressed by namespace and name, cluster-scoped ones by name. */
function place(exchange: Exchange, { definition }: ServedResource): void {
  const { info } = exchange;
  if (definition.scope === "Namespaced") {
    if (info.namespace === "" && info.verb === "get") throw ApiError.notFoundPath();
  } else if (info.namespace !== "") {
    if (definition.plural !== "namespaces") throw ApiError.notFoundPath();
    // A namespace is said to be in itself; its object is in none.
    exchange.info = { ...info, namespace: "" };
  }
}
