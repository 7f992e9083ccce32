import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import { METHOD_VERBS } from "../request/request-info.ts";
import type { ServedResource, Verb } from "../resource/served.ts";
import { serveConnect } from "./connect.ts";
import { serveGet } from "./get.ts";
import { serveKind } from "./kind-subresource.ts";
import { servePatch } from "./patch.ts";
import { serveScaleGet, serveScalePatch, serveScaleUpdate } from "./scale.ts";
import { serveUpdate } from "./update.ts";

/** Answers a request about a part of an object, or about what else it can do. */
export function serveSubresource(exchange: Exchange, resource: ServedResource): void | Promise<void> {
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
export function takesUpgrade({ info }: Exchange, { named }: ServedResource): boolean {
  const own = named.get(info.subresource);
  return own?.form === "connect" && own.handlers.upgrade !== undefined;
}

const STATUS = { get: serveGet, update: serveUpdate, patch: servePatch } as Readonly<
  Partial<Record<Verb, typeof serveGet>>
>;

const SCALE = { get: serveScaleGet, update: serveScaleUpdate, patch: serveScalePatch } as Readonly<
  Partial<Record<Verb, typeof serveScaleGet>>
>;
