import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { deriveRequest } from "../request/derive-request.ts";
import type { ServedResource } from "../resource/served.ts";
import type { AnyConnect, AnyNamed, SubresourceRequest } from "../resource/subresources.ts";
import { readKept } from "../write/write-commit.ts";
import { handOver, rawRequest } from "./raw.ts";
import { keyOf, refuseWildcard, requestOptions, scopeOf } from "./scope.ts";

/** Returns the request for the handler of a subresource; reads the object if it must exist. @throws ApiError 404, 405 for `*` */
export async function subresourceRequest(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  handlers: AnyNamed,
): Promise<SubresourceRequest<unknown>> {
  refuseWildcard(exchange, resource.definition);
  const key = keyOf(exchange);
  const object = handlers.object === "unread" ? undefined : await objectOf(exchange, resource, key);
  const { query, warn } = exchange;
  const about = { key, object, query, warn, tail: tailOf(exchange, resource) };
  return deriveRequest(rawRequest(exchange), about);
}

async function objectOf(
  exchange: AuthorizedExchange,
  { storage, definition }: ServedResource,
  key: ObjectKey,
): Promise<unknown> {
  const kept = await readKept(storage, { scope: scopeOf(exchange), key }, requestOptions(exchange));
  if (kept === undefined) throw ApiError.notFound(groupResourceOf(definition), key.name);
  return kept.object;
}

/** Returns the path after the subresource's name. The path before has no empty segments: such requests are rejected earlier. */
function tailOf({ tail, info }: AuthorizedExchange, { definition }: ServedResource): string {
  const root = info.group === "" ? 2 : 3;
  const place = definition.scope === "Namespaced" ? 2 : 0;
  const rest = tail.split("/").slice(1 + root + place + 3);
  return rest.length === 0 ? "" : `/${rest.join("/")}`;
}

/** Hands a request, or its connection, to the handler of the subresource. */
export async function serveConnect(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  handlers: AnyConnect,
): Promise<void> {
  const { connect, upgrade, longRunning } = handlers;
  const { core, req, res, upgradeHead: head } = exchange;
  if (longRunning === true) exchange.takeTime();
  if (head !== undefined && upgrade !== undefined) {
    const request = await subresourceRequest(exchange, resource, handlers);
    return handOver(exchange, (socket) => upgrade(req, socket, deriveRequest(request, { head })));
  }
  if (connect === undefined) {
    const name = `${resource.definition.plural}/${exchange.info.subresource}`;
    throw ApiError.badRequest(`Upgrade request required: ${name} only takes requests with Connection: Upgrade`);
  }
  const request = await subresourceRequest(exchange, resource, handlers);
  exchange.answered = true;
  core.identityHeaders.drop(req);
  if (longRunning === true) exchange.leaveSeat();
  await connect(req, res, request);
}
