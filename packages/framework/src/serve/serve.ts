import { ApiError } from "@virtual-workspaces/apimachinery";
import { negotiate, parseAccept } from "../encode/negotiate.ts";
import type { Exchange } from "../exchange.ts";
import { type ResourceIndex, resourcesOf, viewMetadata } from "../hooks/hooks.ts";
import type { ServedResource } from "../resource/served.ts";
import { liftDeadline } from "../stages/accept.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { serveNonResource } from "./non-resource.ts";
import { discoverable, refuseUpgrade, servePassed, serveRaw, serveUpgrade } from "./raw.ts";
import { serveResource, takesUpgrade } from "./resource.ts";
import { refuseUnknown } from "./scope.ts";

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

const FORMS = { list: "PartialObjectMetadataList", watch: "PartialObjectMetadata" } as const;
const KINDS = { list: "list", watch: "stream" } as const;

/** What a view serves of a resource to somebody who asks for metadata alone; `undefined` to everybody else. */
function metadataResource(exchange: Exchange): Awaitable<ServedResource | undefined> {
  const { mounted, info } = exchange;
  const { verb, identity, subresource } = info;
  if (mounted.workspace.metadataOf === undefined || identity !== "" || subresource !== "") return undefined;
  if ((verb !== "list" && verb !== "watch") || !asksForMetadata(exchange.req.headers.accept)) return undefined;
  const { group, version, resource } = info;
  const found = viewMetadata(mounted.workspace, { group, version, resource }, exchange);
  return found instanceof Promise ? found.then((served) => taken(exchange, served)) : taken(exchange, found);
}

/** As Kubernetes' negotiation is not asked: any clause tells what somebody is after. */
function asksForMetadata(accept: string | undefined): boolean {
  return (
    accept?.includes("PartialObjectMetadata") === true &&
    parseAccept(accept).some(({ parameters: { as } }) => as === FORMS.list || as === FORMS.watch)
  );
}

/** @throws ApiError 406 when the answer would be anything else */
function taken(exchange: Exchange, served: ServedResource | undefined): ServedResource | undefined {
  if (served === undefined) return undefined;
  const verb = exchange.info.verb as keyof typeof FORMS;
  const form = FORMS[verb];
  if (negotiate(exchange.req.headers.accept, KINDS[verb]).as !== form)
    throw ApiError.notAcceptable([`application/json;as=${form};g=meta.k8s.io;v=v1`]);
  exchange.metadataOnly = true;
  return served;
}
