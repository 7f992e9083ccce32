import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import type { AnyConnect } from "../resource/check-named.ts";
import { handOver } from "./raw.ts";
import { subresourceRequest } from "./subresource-request.ts";

/** Hands a request about an object, or its connection, over to the handler of the subresource. */
export async function serveConnect(exchange: Exchange, resource: ServedResource, handlers: AnyConnect): Promise<void> {
  const { connect, upgrade, longRunning } = handlers;
  const { core, req, res, upgradeHead: head } = exchange;
  if (longRunning === true) exchange.takeTime();
  if (head !== undefined && upgrade !== undefined) {
    const request = await subresourceRequest(exchange, resource, handlers);
    return handOver(exchange, (socket) => upgrade(req, socket, { ...request, head }));
  }
  if (connect === undefined) {
    const name = `${resource.definition.plural}/${exchange.info.subresource}`;
    throw ApiError.badRequest(`Upgrade request required: ${name} takes connections to be upgraded, and nothing else`);
  }
  const request = await subresourceRequest(exchange, resource, handlers);
  exchange.answered = true;
  core.identityHeaders.drop(req);
  if (longRunning === true) exchange.leaveSeat();
  await connect(req, res, request);
}
