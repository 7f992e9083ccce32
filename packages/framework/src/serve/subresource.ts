import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource, Verb } from "../served.ts";
import { serveGet } from "./get.ts";
import { servePatch } from "./patch.ts";
import { serveUpdate } from "./update.ts";

/** Answers a request about a part of an object. */
export function serveSubresource(exchange: Exchange, resource: ServedResource): void | Promise<void> {
  const { info, req } = exchange;
  const { definition, verbs } = resource;
  if (info.subresource !== "status" || !definition.subresources.status) throw ApiError.notFoundPath();
  const verb = info.verb as Verb;
  if (!verbs.includes(verb))
    throw ApiError.methodNotAllowed(groupResourceOf(definition), info.verb === "" ? (req.method ?? "") : verb);
  if (verb === "get") return serveGet(exchange, resource);
  if (verb === "update") return serveUpdate(exchange, resource);
  if (verb === "patch") return servePatch(exchange, resource);
  throw ApiError.methodNotAllowed(groupResourceOf(definition), verb);
}
