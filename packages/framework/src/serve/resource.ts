import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { groupResourceOf } from "../resource.ts";
import type { ServedResource, Verb } from "../served.ts";
import type { RequestOptions, Scope } from "../storage.ts";
import type { User } from "../user.ts";
import { everything } from "../watch/selection.ts";
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

/** What a storage is told of this request's place, with nothing selected. */
export function scopeOf(exchange: Exchange): Scope {
  const { params, cluster, info } = exchange;
  return {
    params,
    cluster,
    namespace: info.namespace,
    labels: everything.labels,
    fields: everything.fields,
    identity: exchange.user as User,
  };
}

/** What belongs to this request alone. */
export function requestOptions(exchange: Exchange): RequestOptions {
  const { requestId, res } = exchange;
  return {
    user: exchange.user as User,
    requestId,
    warn: (text) => res.appendHeader("Warning", `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, "?"))}`),
    get signal() {
      return exchange.signal;
    },
  };
}

/** Whether lists are served from the cache that watches read, so that both always agree. */
export function isCached({ storage }: ServedResource): boolean {
  return storage.cache !== undefined || (storage.changes !== undefined && storage.narrows !== true);
}
