import { ApiError, type GroupResource, WILDCARD } from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import type { RequestOptions, Scope } from "../storage.ts";
import type { User } from "../request/user.ts";
import { everything } from "../watch/selection.ts";

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
    hops: exchange.hops,
    via: exchange.via,
  };
}

/** Objects are named, and written, in one logical cluster. @throws ApiError 405 for all at once */
export function refuseWildcard(exchange: Exchange, definition: ResourceDefinition): void {
  if (exchange.cluster === WILDCARD) refuseEverywhere(exchange, groupResourceOf(definition));
}

/** The same of what nobody has: over all logical clusters verbs come first. @throws ApiError 405 */
export function refuseUnknown(exchange: Exchange): void {
  const { cluster, info } = exchange;
  const { group, resource, verb } = info;
  if (cluster === WILDCARD && verb !== "list" && verb !== "watch" && verb !== "")
    refuseEverywhere(exchange, { group, resource });
}

function refuseEverywhere({ info }: Exchange, resource: GroupResource): never {
  const { status } = ApiError.methodNotAllowed(resource, info.verb);
  throw new ApiError({ ...status, message: `${status.message} in the \`*\` logical cluster` });
}

/** What belongs to this request alone. */
export function requestOptions({ user, requestId, signal, warn, req }: Exchange): RequestOptions {
  return { user: user as User, requestId, signal, warn, acceptEncoding: acceptEncodingOf(req), headers: req.headers };
}

function acceptEncodingOf({ headers }: Exchange["req"]): string | undefined {
  return headers["accept-encoding"] as string | undefined;
}

/** Whether lists are served from the cache that watches read, so that both always agree. */
export function isCached({ storage }: ServedResource): boolean {
  if (storage.narrows === true) return storage.cache !== undefined && storage.list === undefined;
  return storage.cache !== undefined || storage.changes !== undefined;
}
