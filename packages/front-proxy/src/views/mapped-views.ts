import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type Authenticator,
  allow,
  defineVirtualWorkspace,
  type RawRequest,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import type { Log } from "@virtual-workspaces/framework/server";
import { type GroupFilter, withoutGroups } from "../callers.ts";
import type { Route } from "../forwarding/route.ts";
import { Routes } from "../forwarding/routes.ts";
import type { Mapping } from "../mapping/mapping.ts";

/** Returns additional authenticators for a path. */
type Logins = (path: string) => readonly Authenticator[];

/** Views of the mapped paths, below `/services` and elsewhere. Requests are forwarded unchanged; upstreams authorize them. */
export function mappedViews(routes: Routes, logins: Logins): readonly VirtualWorkspace[] {
  return [view("services", { prefix: "/services", routes, logins }), view("mapped", { prefix: "/", routes, logins })];
}

/** Options of {@link mappedServices}. */
export interface MappedServicesOptions {
  /** Mappings of paths below `/services`. */
  readonly mapping: readonly Mapping[];
  /** Groups that upstreams receive. @default all except those that grant rights within the system */
  readonly groups?: GroupFilter;
  readonly log: Log;
}

/**
 * Creates a view of mapped paths below `/services`, for a server with views of its own there, which take precedence. Like
 * `--miniproxy-mapping-file` of a kcp shard, but upstreams also learn the caller's identity. The server rejects unknown
 * callers.
 *
 * @throws Error for an invalid mapping, or one of another path
 */
export function mappedServices({ mapping, groups = {}, log }: MappedServicesOptions): VirtualWorkspace {
  const odd = mapping.find(({ path }) => !path.startsWith("/services/"));
  if (odd !== undefined)
    throw new Error(`mapping of ${odd.path}: use a path below /services/, or run a front proxy for other paths`);
  const routes = new Routes(mapping, log);
  const left = withoutGroups(groups);
  const mapped = view("services", { prefix: "/services", routes });
  const as = <R extends RawRequest<unknown>>(request: R): R => deriveRequest(request, { user: left(request.user) });
  return Object.freeze({
    ...mapped,
    handle: (...[req, res, request]: Parameters<NonNullable<typeof mapped.handle>>) =>
      mapped.handle?.(req, res, as(request)),
    upgrade: (...[req, socket, request]: Parameters<NonNullable<typeof mapped.upgrade>>) =>
      mapped.upgrade?.(req, socket, as(request)),
    setup: () => routes,
  });
}

interface MappedView {
  readonly prefix: string;
  readonly routes: Routes;
  /** @default none */
  readonly logins?: Logins;
}

function view(name: string, { prefix, routes, logins }: MappedView): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    prefix,
    path: "/",
    mappedPaths: () => routes.all.map(({ path }) => path).filter((one) => isServices(one) === isServices(prefix)),
    ...(logins && { authentication: (_, at) => logins(at.prefix + at.tail) }),
    authorize: () => allow(),
    takesToken: true,
    passesImpersonation: true,
    handleWhen: () => true,
    handle: (req, res, request) => routeOf(routes, request).handle(req, res, request),
    upgrade: (req, socket, request) => routeOf(routes, request).upgrade(req, socket, request),
  });
}

const isServices = (path: string): boolean => path === "/services" || path.startsWith("/services/");

/** @throws ApiError 404 for an unmapped path, 503 before all mappings are known */
function routeOf(routes: Routes, { prefix, tail }: Pick<RawRequest<unknown>, "prefix" | "tail">): Route {
  const route = routes.of(prefix + tail);
  if (route === undefined && !routes.isRead)
    throw ApiError.serviceUnavailable("the path mappings have not been read yet: try again", 1);
  if (route === undefined) throw ApiError.notFoundPath();
  return route;
}
