import { ApiError } from "@virtual-workspaces/apimachinery";
import { negotiate, parseAccept } from "../encode/negotiate.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { type ResourceIndex, resourcesOf, viewMetadata } from "../hooks/hooks.ts";
import type { Advertised, ServedResource } from "../resource/served.ts";
import { liftDeadline } from "../stages/accept.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { serveNonResource } from "./non-resource.ts";
import { discoverable, servePassed, serveRaw, serveUpgrade } from "./raw.ts";
import { serveResource, takesUpgrade } from "./resource.ts";
import { refuseUnknown } from "./scope.ts";

/** Hands the request to whatever serves it. */
export function serve(exchange: AuthorizedExchange): void | Promise<void> {
  if (exchange.misfit !== undefined) throw exchange.misfit;
  const { upgradeHead, info, handled, review } = exchange;
  if (handled || (upgradeHead !== undefined && !info.isResource)) {
    liftDeadline(exchange);
    return upgradeHead === undefined ? serveRaw(exchange) : serveUpgrade(exchange);
  }
  if (review !== undefined) return serveResource(exchange, review);
  const serveFrom = info.isResource ? serveObjects : servePath;
  const resources = resourcesOf(exchange);
  if (resources instanceof Promise) return resources.then((index) => serveFrom(exchange, index));
  return serveFrom(exchange, resources);
}

/** What is about objects. */
function serveObjects(exchange: AuthorizedExchange, resources: ResourceIndex): void | Promise<void> {
  liftDeadline(exchange);
  const resource = resources.find(exchange.info);
  if (resource !== undefined || exchange.upgradeHead !== undefined) return serveFound(exchange, resource);
  const metadata = metadataResource(exchange);
  return metadata instanceof Promise
    ? metadata.then((found) => serveFound(exchange, found))
    : serveFound(exchange, metadata);
}

function serveFound(exchange: AuthorizedExchange, resource: ServedResource | undefined): void | Promise<void> {
  exchange.served = resource;
  if (resource?.passed !== undefined) return servePassed(exchange, resource, resource.passed);
  const isTaken = exchange.upgradeHead === undefined || (resource !== undefined && takesUpgrade(exchange, resource));
  if (!isTaken) return serveUpgrade(exchange);
  return resource === undefined ? serveRest(exchange) : serveResource(exchange, resource);
}

/** What is about a path and nothing else: discovery, documents, or the raw handler's. */
function servePath(exchange: AuthorizedExchange, resources: ResourceIndex): void | Promise<void> {
  liftDeadline(exchange);
  const { method } = exchange.req;
  if (method !== "GET" && method !== "HEAD") return serveRest(exchange);
  const told = discoverable(exchange, resources.list);
  const answer = (list: readonly Advertised[]) => (serveNonResource(exchange, list) ? undefined : serveRest(exchange));
  return told instanceof Promise ? told.then(answer) : answer(told);
}

/** What is nothing that the view has resources for. */
function serveRest(exchange: AuthorizedExchange): void | Promise<void> {
  const { info, mounted } = exchange;
  const { handle, handles } = mounted.workspace;
  if (handle !== undefined && handles === undefined) return serveRaw(exchange);
  if (info.isResource) refuseUnknown(exchange);
  throw ApiError.notFoundPath();
}

const FORMS = { list: "PartialObjectMetadataList", watch: "PartialObjectMetadata" } as const;
const KINDS = { list: "list", watch: "stream" } as const;

/** What a view serves of a resource to somebody who asks for metadata alone; `undefined` to everybody else. */
function metadataResource(exchange: AuthorizedExchange): Awaitable<ServedResource | undefined> {
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
function taken(exchange: AuthorizedExchange, served: ServedResource | undefined): ServedResource | undefined {
  if (served === undefined) return undefined;
  const verb = exchange.info.verb as keyof typeof FORMS;
  const form = FORMS[verb];
  if (negotiate(exchange.req.headers.accept, KINDS[verb]).as !== form)
    throw ApiError.notAcceptable([`application/json;as=${form};g=meta.k8s.io;v=v1`]);
  exchange.metadataOnly = true;
  return served;
}
