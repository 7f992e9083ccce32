import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { metadataResource } from "./metadata-only.ts";
import { serveNonResource } from "./non-resource.ts";
import { discoverable, servePassed } from "./passed.ts";
import { refuseUpgrade, serveRaw, serveUpgrade } from "./raw.ts";
import { serveResource } from "./resource.ts";
import type { ResourceIndex } from "../hooks/resources.ts";
import { resourcesOf } from "../hooks/resources.ts";
import { refuseUnknown } from "./scope.ts";
import { takesUpgrade } from "./subresource.ts";
import type { ServedResource } from "../resource/served.ts";
import { liftDeadline } from "../stages/deadline.ts";

/** Hands the request to whatever serves it. */
export function serve(exchange: Exchange): void | Promise<void> {
  if (exchange.misfit !== undefined) throw exchange.misfit;
  const { upgradeHead, info, handled, mounted } = exchange;
  if (handled || (upgradeHead !== undefined && !info.isResource)) {
    liftDeadline(exchange);
    if (upgradeHead === undefined) return serveRaw(exchange);
    return handled || mounted.workspace.handles === undefined ? serveUpgrade(exchange) : refuseUpgrade(mounted);
  }
  if (exchange.review !== undefined) return serveResource(exchange, exchange.review);
  const resources = resourcesOf(exchange);
  if (resources instanceof Promise) return resources.then((index) => serveFrom(exchange, index));
  return serveFrom(exchange, resources);
}

function serveFrom(exchange: Exchange, resources: ResourceIndex): void | Promise<void> {
  liftDeadline(exchange);
  const { info, upgradeHead } = exchange;
  const resource = info.isResource ? resources.find(info) : undefined;
  if (resource === undefined && info.isResource && upgradeHead === undefined) {
    const metadata = metadataResource(exchange);
    if (metadata instanceof Promise) return metadata.then((found) => serveFound(exchange, resources, found));
    return serveFound(exchange, resources, metadata);
  }
  return serveFound(exchange, resources, resource);
}

function serveFound(
  exchange: Exchange,
  resources: ResourceIndex,
  resource: ServedResource | undefined,
): void | Promise<void> {
  const { info, req, upgradeHead, mounted } = exchange;
  exchange.served = resource;
  if (resource?.passed !== undefined) return servePassed(exchange, resource, resource.passed);
  if (upgradeHead !== undefined) {
    if (resource !== undefined && takesUpgrade(exchange, resource)) return serveResource(exchange, resource);
    return mounted.workspace.handles === undefined ? serveUpgrade(exchange) : refuseUpgrade(mounted);
  }
  if (info.isResource) {
    if (resource !== undefined) return serveResource(exchange, resource);
  } else if (req.method === "GET" || req.method === "HEAD") {
    const told = discoverable(exchange, resources.list);
    if (told instanceof Promise)
      return told.then((list) => (serveNonResource(exchange, list) ? undefined : serveRest(exchange)));
    if (serveNonResource(exchange, told)) return undefined;
  }
  return serveRest(exchange);
}

/** What is nothing that the view has resources for. */
function serveRest(exchange: Exchange): void | Promise<void> {
  const { info, mounted } = exchange;
  const { handle, handles } = mounted.workspace;
  if (handle !== undefined && handles === undefined) return serveRaw(exchange);
  if (info.isResource) refuseUnknown(exchange);
  throw ApiError.notFoundPath();
}
