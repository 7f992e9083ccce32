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

/** Who may come in besides those whom the server knows, by the path. */
type Logins = (path: string) => readonly Authenticator[];

/**
 * What is behind the paths of a mapping, below `/services` and elsewhere. Requests go on as they came; who may do what is for the servers
 * behind to say.
 */
export function mappedViews(routes: Routes, logins: Logins): readonly VirtualWorkspace[] {
  return [view("services", { prefix: "/services", routes, logins }), view("mapped", { prefix: "/", routes, logins })];
}

/** What is mapped in a server of workspaces. */
export interface MappedServicesOptions {
  /** Paths below `/services`. */
  readonly mapping: readonly Mapping[];
  /** Which groups servers behind are told of. @default all but those by which the system gives rights within itself */
  readonly groups?: GroupFilter;
  readonly log: Log;
}

/**
 * What is mapped below `/services`, as a view of a server that has views of its own there, which come first (`--miniproxy-mapping-file` of a kcp's
 * shard, which does not say who asks: this does). Who is not known gets no further than the server.
 *
 * @throws Error on a mapping that cannot be used, and on one of another path
 */
export function mappedServices({ mapping, groups = {}, log }: MappedServicesOptions): VirtualWorkspace {
  const odd = mapping.find(({ path }) => !path.startsWith("/services/"));
  if (odd !== undefined)
    throw new Error(
      `mapping of ${odd.path}: only what is below /services/ can be mapped here: for others run a front proxy`,
    );
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
  /** @default nobody */
  readonly logins?: Logins;
}

function view(name: string, { prefix, routes, logins }: MappedView): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    prefix,
    path: "/",
    ...(logins && { authentication: (_, at) => logins(at.prefix + at.tail) }),
    authorize: () => allow(),
    takesToken: true,
    passesImpersonation: true,
    handleWhen: () => true,
    handle: (req, res, request) => routeOf(routes, request).handle(req, res, request),
    upgrade: (req, socket, request) => routeOf(routes, request).upgrade(req, socket, request),
  });
}

/** @throws ApiError 404 where nothing is mapped, 503 while that is not known */
function routeOf(routes: Routes, { prefix, tail }: Pick<RawRequest<unknown>, "prefix" | "tail">): Route {
  const route = routes.of(prefix + tail);
  if (route === undefined && !routes.isRead)
    throw ApiError.serviceUnavailable("what is behind which path is being read: try again", 1);
  if (route === undefined) throw ApiError.notFoundPath();
  return route;
}
