import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { ServedResource, Verb } from "../resource/served.ts";
import { serveCreate } from "./create.ts";
import { serveDelete } from "./delete.ts";
import { serveDeleteCollection } from "./delete-collection.ts";
import { askedElsewhere } from "./elsewhere.ts";
import { serveGet } from "./get.ts";
import { serveList } from "./list.ts";
import { servePatch } from "./patch.ts";
import { serveSubresource } from "./subresource.ts";
import { serveUpdate } from "./update.ts";
import { serveWatch } from "./watch.ts";

type Serve = (exchange: Exchange, resource: ServedResource) => void | Promise<void>;

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
export function serveResource(exchange: Exchange, resource: ServedResource): void | Promise<void> {
  place(exchange, resource);
  const elsewhere = askedElsewhere(exchange, resource);
  if (elsewhere === undefined) return serveHere(exchange, resource);
  return elsewhere.then((answered) => (answered ? undefined : serveHere(exchange, resource)));
}

function serveHere(exchange: Exchange, resource: ServedResource): void | Promise<void> {
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
function place(exchange: Exchange, { definition }: ServedResource): void {
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
