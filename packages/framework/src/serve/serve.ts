import { ApiError } from "@virtual-workspaces/apimachinery";
import { decodeContinue } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, type Verb } from "../definition.ts";
import { negotiate, parseAccept } from "../encode/representation.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { AuthorizeQuestion, type ResourceIndex, resourcesOf, viewMetadata } from "../hooks/hooks.ts";
import { deriveRequest } from "../request/derive-request.ts";
import type { PeerForwarder } from "../request/raw-request.ts";
import { METHOD_VERBS, type RequestInfo } from "../request/request-info.ts";
import type { Advertised, ForwardingHandlers, ServedResource } from "../resource/served.ts";
import { liftDeadline } from "../stages/accept.ts";
import { authorizeAs } from "../stages/authorize.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { Minter } from "../watch/cache/minter.ts";
import { isWatchSocket } from "../watch/web-sockets.ts";
import { serveDelete, serveDeleteCollection } from "./delete.ts";
import { serveGet } from "./get.ts";
import { serveKind } from "./kind-subresource.ts";
import { serveList } from "./list.ts";
import { serveNonResource } from "./non-resource.ts";
import { servePatch } from "./patch.ts";
import { discoverable, handOver, rawRequest, rejectedUpgrade, servePassed, serveRaw, serveUpgrade } from "./raw.ts";
import { serveScaleGet, serveScalePatch, serveScaleUpdate } from "./scale.ts";
import { refuseUnknown } from "./scope.ts";
import { serveConnect } from "./subresource-request.ts";
import { serveWatch } from "./watch.ts";
import { serveCreate, serveUpdate } from "./writes.ts";

/** Routes the request to the function that serves it. */
export function serve(exchange: AuthorizedExchange): void | Promise<void> {
  if (exchange.misfit !== undefined) throw exchange.misfit;
  const { upgradeHead, info, handled, review } = exchange;
  if (handled || (upgradeHead !== undefined && !info.isResource)) {
    liftDeadline(exchange);
    return upgradeHead === undefined ? serveRaw(exchange) : serveAsUpgrade(exchange);
  }
  if (review !== undefined) return serveResource(exchange, review);
  const serveFrom = info.isResource ? serveObjects : servePath;
  const resources = resourcesOf(exchange);
  if (resources instanceof Promise) return resources.then((index) => serveFrom(exchange, index));
  return serveFrom(exchange, resources);
}

/** Serves requests about objects. */
function serveObjects(exchange: AuthorizedExchange, resources: ResourceIndex): void | Promise<void> {
  // A watch of the framework has to begin in time.
  if (exchange.info.verb !== "watch") liftDeadline(exchange);
  const resource = resources.find(exchange.info);
  if (resource !== undefined || exchange.upgradeHead !== undefined) return serveFound(exchange, resource);
  const metadata = metadataResource(exchange);
  return metadata instanceof Promise
    ? metadata.then((found) => serveFound(exchange, found))
    : serveFound(exchange, metadata);
}

function serveFound(exchange: AuthorizedExchange, resource: ServedResource | undefined): void | Promise<void> {
  if (resource?.forwardedBy !== undefined) return serveForwarded(exchange, resource, resource.forwardedBy);
  exchange.served = resource;
  const isTaken = exchange.upgradeHead === undefined || (resource !== undefined && takesUpgrade(exchange, resource));
  if (!isTaken) return serveAsUpgrade(exchange);
  return resource === undefined ? serveRest(exchange) : serveResource(exchange, resource);
}

/** Hands an upgrade to the view. Security: a watch over a WebSocket was authorized as a read, which opens no tunnel. */
async function serveAsUpgrade(exchange: AuthorizedExchange): Promise<void> {
  liftDeadline(exchange);
  const { info } = exchange;
  if (!info.upgrade) {
    const upgrade = { ...info, upgrade: true };
    await authorizeAs(exchange, upgrade);
    // Repeated authorizations are of the upgrade too.
    exchange.info = upgrade;
  }
  return serveUpgrade(exchange);
}

function serveForwarded(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  handlers: ForwardingHandlers,
): void | Promise<void> {
  liftDeadline(exchange);
  const instead = handlers.instead?.(new AuthorizeQuestion(exchange, exchange.info));
  exchange.served = instead ?? resource;
  if (instead === undefined) return servePassed(exchange, resource, handlers);
  // Security: the handlers would forward a DELETE that asks for an upgrade past the admission of the other resource.
  if (exchange.upgradeHead !== undefined) throw rejectedUpgrade(instead);
  return serveResource(exchange, instead);
}

/** Serves requests about a path alone: discovery, documents, or the raw handler. */
function servePath(exchange: AuthorizedExchange, resources: ResourceIndex): void | Promise<void> {
  liftDeadline(exchange);
  const { method } = exchange.req;
  if (method !== "GET" && method !== "HEAD") return serveRest(exchange);
  const told = discoverable(exchange, resources.list);
  const answer = (list: readonly Advertised[]) => (serveNonResource(exchange, list) ? undefined : serveRest(exchange));
  return told instanceof Promise ? told.then(answer) : answer(told);
}

/** Serves requests for which the view has no resource. */
function serveRest(exchange: AuthorizedExchange): void | Promise<void> {
  liftDeadline(exchange);
  const { info, mounted } = exchange;
  const { handle, handleWhen } = mounted.workspace;
  if (handle !== undefined && handleWhen === undefined) return serveRaw(exchange);
  if (info.isResource) refuseUnknown(exchange);
  throw ApiError.notFoundPath();
}

const FORMS = { list: "PartialObjectMetadataList", watch: "PartialObjectMetadata" } as const;
const KINDS = { list: "list", watch: "stream" } as const;

/** Returns the resource that a view serves only to clients that request metadata alone; `undefined` for other requests. */
function metadataResource(exchange: AuthorizedExchange): Awaitable<ServedResource | undefined> {
  const { mounted, info } = exchange;
  const { verb, identity, subresource } = info;
  if (mounted.workspace.metadataOf === undefined || identity !== "" || subresource !== "") return undefined;
  if ((verb !== "list" && verb !== "watch") || !asksForMetadata(exchange.req.headers.accept)) return undefined;
  const { group, version, resource } = info;
  const found = viewMetadata(mounted.workspace, { group, version, resource }, exchange);
  return found instanceof Promise ? found.then((served) => taken(exchange, served)) : taken(exchange, found);
}

/** Whether any clause requests metadata. Kubernetes' negotiation would only look at the one it chooses. */
function asksForMetadata(accept: string | undefined): boolean {
  return (
    accept?.includes("PartialObjectMetadata") === true &&
    parseAccept(accept).some(({ parameters: { as } }) => as === FORMS.list || as === FORMS.watch)
  );
}

/** @throws ApiError 406 when negotiation would choose another form */
function taken(exchange: AuthorizedExchange, served: ServedResource | undefined): ServedResource | undefined {
  if (served === undefined) return undefined;
  const verb = exchange.info.verb as keyof typeof FORMS;
  const form = FORMS[verb];
  if (negotiate(exchange.req.headers.accept, KINDS[verb]).as !== form)
    throw ApiError.notAcceptable([`application/json;as=${form};g=meta.k8s.io;v=v1`]);
  exchange.metadataOnly = true;
  return served;
}

type Serve = (exchange: AuthorizedExchange, resource: ServedResource) => void | Promise<void>;

const SERVE: Readonly<Record<Verb, Serve>> = {
  get: serveGet,
  list: serveList,
  watch: serveWatch,
  create: serveCreate,
  update: serveUpdate,
  patch: servePatch,
  delete: serveDelete,
  deletecollection: serveDeleteCollection,
};

/** Serves a request about objects of a resource. */
function serveResource(exchange: AuthorizedExchange, resource: ServedResource): void | Promise<void> {
  place(exchange, resource);
  const elsewhere = askedElsewhere(exchange, resource);
  if (elsewhere === undefined) return serveHere(exchange, resource);
  return elsewhere.then((answered) => (answered ? undefined : serveHere(exchange, resource)));
}

function serveHere(exchange: AuthorizedExchange, resource: ServedResource): void | Promise<void> {
  if (resource.warning !== undefined) exchange.warn(resource.warning);
  const { info, req } = exchange;
  if (info.subresource !== "") return serveSubresource(exchange, resource);
  const { method = "" } = req;
  const verb = info.verb as Verb;
  if (!fits(method, info) || !resource.verbs.includes(verb)) {
    const named = info.verb === "" || method === "HEAD" ? method : verb;
    throw ApiError.methodNotAllowed(groupResourceOf(resource.definition), named);
  }
  if (info.name === "" && (verb === "update" || verb === "patch")) throw ApiError.badRequest("name must be provided");
  const isRead = verb === "list" || verb === "watch";
  return SERVE[verb](exchange, (isRead && resource.queried?.(exchange.query)) || resource);
}

const READS: readonly string[] = ["get", "list", "watch"];

/** Whether the method fits the verb that the path implies: HEAD cannot watch, and a POST names the object in its body. */
function fits(method: string, { verb, name }: RequestInfo): boolean {
  if (READS.includes(verb)) return method === "GET" || (method === "HEAD" && verb !== "watch");
  return verb !== "create" || name === "";
}

/** Checks the path: it names a namespace for namespaced kinds, and none for cluster-scoped ones. */
function place(exchange: AuthorizedExchange, { definition }: ServedResource): void {
  const { info } = exchange;
  if (definition.scope === "Namespaced") {
    if (info.namespace !== "" || info.verb === "list" || info.verb === "watch") return;
    // Only lists and watches work in all namespaces.
    throw ApiError.notFoundPath();
  } else if (info.namespace !== "") {
    if (definition.plural !== "namespaces") throw ApiError.notFoundPath();
    // The path of a Namespace names it as a namespace too, but its object is in none.
    exchange.info = { ...info, namespace: "" };
  }
}

/** Serves a request to a subresource. */
function serveSubresource(exchange: AuthorizedExchange, resource: ServedResource): void | Promise<void> {
  const { info, req } = exchange;
  const { definition, subresources, scaling, named } = resource;
  const found = subresources.find(({ name }) => name === info.subresource);
  if (found === undefined) throw ApiError.notFoundPath();
  const verb = info.verb as Verb;
  if (METHOD_VERBS.get(req.method ?? "") !== verb || !found.verbs.includes(verb))
    throw ApiError.methodNotAllowed(groupResourceOf(definition), info.verb === "" ? (req.method ?? "") : verb);
  const own = named.get(found.name);
  if (own !== undefined)
    return own.form === "kind" ? serveKind(exchange, resource, own) : serveConnect(exchange, resource, own.handlers);
  if (found.form === "status" || scaling === undefined) return STATUS[verb]?.(exchange, resource);
  return SCALE[verb]?.(exchange, resource, scaling);
}

/** Whether the resource takes the upgrade, instead of the virtual workspace: a watch over a WebSocket, or a subresource. */
function takesUpgrade({ info, req }: AuthorizedExchange, { named }: ServedResource): boolean {
  if (info.verb === "watch") return isWatchSocket(req, info);
  const own = named.get(info.subresource);
  return own?.form === "connect" && own.handlers.upgrade !== undefined;
}

const STATUS = { get: serveGet, update: serveUpdate, patch: servePatch } as Readonly<
  Partial<Record<Verb, typeof serveGet>>
>;

const SCALE = { get: serveScaleGet, update: serveScaleUpdate, patch: serveScalePatch } as Readonly<
  Partial<Record<Verb, typeof serveScaleGet>>
>;

/** Proxies the request to the process that has the objects. Returns `undefined` when this one has them. */
function askedElsewhere(exchange: AuthorizedExchange, resource: ServedResource): Promise<boolean> | undefined {
  const { core } = exchange;
  if (core.peers === undefined || resource.storage.local !== true) return undefined;
  const peer = core.peers({
    req: exchange.req,
    virtualWorkspace: exchange.mounted.name,
    minter: minterOf(exchange),
  });
  return peer && forwardToPeer(exchange, peer);
}

async function forwardToPeer(exchange: AuthorizedExchange, peer: PeerForwarder): Promise<boolean> {
  liftDeadline(exchange);
  const { core, req, res, upgradeHead: head } = exchange;
  if (head !== undefined) {
    await handOver(exchange, (socket) => peer.upgrade(req, socket, deriveRequest(rawRequest(exchange), { head })));
    return true;
  }
  core.identityHeaders.drop(req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  exchange.answered = true;
  exchange.answered = await peer.handle(req, res, rawRequest(exchange));
  return exchange.answered;
}

const BY_VERSION: ReadonlySet<string> = new Set(["get", "list", "watch", "deletecollection"]);

/** Returns the minter of the version that a read names. The process that answers rejects malformed versions. */
function minterOf({ info, query, search }: AuthorizedExchange): number | undefined {
  if (search === "" || !BY_VERSION.has(info.verb)) return undefined;
  return Minter.of(versionOf(query) ?? "");
}

function versionOf(query: URLSearchParams): string | undefined {
  const token = query.get("continue");
  if (token === null || token === "") return query.get("resourceVersion") ?? undefined;
  try {
    return decodeContinue(token).resourceVersion;
  } catch {
    return undefined;
  }
}
