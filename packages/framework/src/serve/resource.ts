import { ApiError, decodeContinue } from "@virtual-workspaces/apimachinery";
import type { Verb } from "../definition.ts";
import { groupResourceOf } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { PassOn } from "../request/peers.ts";
import { METHOD_VERBS, type RequestInfo } from "../request/request-info.ts";
import type { ServedResource } from "../resource/served.ts";
import { Minter } from "../watch/cache/minter.ts";
import { serveDelete, serveDeleteCollection } from "./delete.ts";
import { serveGet } from "./get.ts";
import { serveKind } from "./kind-subresource.ts";
import { serveList } from "./list.ts";
import { servePatch } from "./patch.ts";
import { rawRequest } from "./raw.ts";
import { serveScaleGet, serveScalePatch, serveScaleUpdate } from "./scale.ts";
import { serveConnect } from "./subresource-request.ts";
import { serveCreate, serveUpdate } from "./writes.ts";
import { serveWatch } from "./watch.ts";

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

/** Answers a request about objects. */
export function serveResource(exchange: AuthorizedExchange, resource: ServedResource): void | Promise<void> {
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
  return SERVE[verb](exchange, resource);
}

const READS: readonly string[] = ["get", "list", "watch"];

/** Paths may say a verb that the method contradicts: HEAD is no way to watch, and POST names what it makes in its body. */
function fits(method: string, { verb, name }: RequestInfo): boolean {
  if (READS.includes(verb)) return method === "GET" || (method === "HEAD" && verb !== "watch");
  return verb !== "create" || name === "";
}

/** Namespaced kinds are addressed by namespace and name, cluster-scoped ones by name. */
function place(exchange: AuthorizedExchange, { definition }: ServedResource): void {
  const { info } = exchange;
  if (definition.scope === "Namespaced") {
    if (info.namespace !== "" || info.verb === "list" || info.verb === "watch") return;
    // All namespaces together can be read; nothing is in all of them.
    throw ApiError.notFoundPath();
  } else if (info.namespace !== "") {
    if (definition.plural !== "namespaces") throw ApiError.notFoundPath();
    // A namespace is said to be in itself; its object is in none.
    exchange.info = { ...info, namespace: "" };
  }
}

/** Answers a request about a part of an object, or about what else it can do. */
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

/** Whether a connection to be upgraded is for a subresource, rather than for the virtual workspace. */
export function takesUpgrade({ info }: AuthorizedExchange, { named }: ServedResource): boolean {
  const own = named.get(info.subresource);
  return own?.form === "connect" && own.handlers.upgrade !== undefined;
}

const STATUS = { get: serveGet, update: serveUpdate, patch: servePatch } as Readonly<
  Partial<Record<Verb, typeof serveGet>>
>;

const SCALE = { get: serveScaleGet, update: serveScaleUpdate, patch: serveScalePatch } as Readonly<
  Partial<Record<Verb, typeof serveScaleGet>>
>;

/** Has another process answer that has what is asked for. `undefined`: this one has it. */
function askedElsewhere(exchange: AuthorizedExchange, resource: ServedResource): Promise<boolean> | undefined {
  const { core, upgradeHead } = exchange;
  if (core.peers === undefined || resource.storage.local !== true || upgradeHead !== undefined) return undefined;
  const pass = core.peers({
    req: exchange.req,
    virtualWorkspace: exchange.mounted.name,
    minter: minterOf(exchange),
  });
  return pass && passOn(exchange, pass);
}

async function passOn(exchange: AuthorizedExchange, pass: PassOn): Promise<boolean> {
  const { core, req, res } = exchange;
  core.identityHeaders.drop(req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  exchange.answered = true;
  exchange.answered = await pass(req, res, rawRequest(exchange));
  return exchange.answered;
}

const BY_VERSION: ReadonlySet<string> = new Set(["get", "list", "watch", "deletecollection"]);

/** Who gave the version that a read goes by. What is malformed is for whoever answers to refuse. */
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
