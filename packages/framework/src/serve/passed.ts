import { ApiError } from "@virtual-workspaces/apimachinery";
import { isAggregated } from "../discovery/negotiation.ts";
import type { Exchange } from "../exchange.ts";
import { type PassedHandlers, withVerbs } from "../resource/passed.ts";
import type { Advertised, ServedResource } from "../resource/served.ts";
import { HookRequest } from "../hooks/hook-request.ts";
import { handOver, rawRequest, takeRaw } from "./raw.ts";
import { refuseUnknown } from "./scope.ts";

/** Hands a request about objects to whoever answers it in the resource's stead. */
export function servePassed(exchange: Exchange, resource: ServedResource, passed: PassedHandlers): Promise<void> {
  refuseUnknown(exchange);
  const { req, res, upgradeHead: head } = exchange;
  if (resource.warning !== undefined) exchange.warn(resource.warning);
  if (head === undefined) return takeRaw(exchange, () => passed.handle(req, res, rawRequest(exchange)));
  const { upgrade } = passed;
  if (upgrade === undefined)
    throw ApiError.badRequest(`${resource.definition.plural} take no upgrades; ask without the Upgrade header`);
  return handOver(exchange, (socket) => upgrade(req, socket, { ...rawRequest(exchange), head }));
}

/** What discovery tells of resources: of those that are elsewhere what is said there now, if this is about them. */
export function discoverable(
  exchange: Exchange,
  resources: readonly ServedResource[],
): readonly Advertised[] | Promise<readonly Advertised[]> {
  const isAsked = (resource: ServedResource): boolean =>
    resource.passed?.discover !== undefined && isAbout(exchange, resource);
  return resources.some(isAsked) ? askAll(exchange, resources, isAsked) : resources;
}

async function askAll(
  exchange: Exchange,
  resources: readonly ServedResource[],
  isAsked: (resource: ServedResource) => boolean,
): Promise<readonly Advertised[]> {
  const missing: string[] = [];
  const told = resources.map(async (resource): Promise<Advertised> => {
    if (!isAsked(resource)) return resource;
    const { group, plural } = resource.definition;
    try {
      return withVerbs(resource, (await resource.passed?.discover?.(new HookRequest(exchange))) ?? {});
    } catch (error) {
      const name = `${plural}.${group}`;
      exchange.log({ level: "info", message: "discovery failed", resource: name, error: String(error) });
      missing.push(name);
      return { ...resource, missing: true };
    }
  });
  const all = await Promise.all(told);
  if (missing.length > 0)
    exchange.warn(`Some resources are temporarily unavailable: [${[...new Set(missing)].sort().join(" ")}].`);
  return all;
}

/** Whether a discovery document tells verbs of a resource. */
function isAbout({ info, req }: Exchange, { definition: { group, version } }: ServedResource): boolean {
  const root = group === "" ? "/api" : "/apis";
  if (info.path === root) return isAggregated(req.headers.accept);
  return info.path === (group === "" ? `${root}/${version}` : `${root}/${group}/${version}`);
}
