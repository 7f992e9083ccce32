import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace, type RawRequest, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Route } from "../passing/route.ts";
import type { Routes } from "../passing/routes.ts";

/**
 * What is behind the paths of a mapping, below `/services` and elsewhere. Requests go on as they came; who may do what is for the servers
 * behind to say.
 */
export function mappedViews(routes: Routes): readonly VirtualWorkspace[] {
  return [view("services", "/services", routes), view("mapped", "/", routes)];
}

/** The same for the names below `/services` alone that a server has no views of. */
export function mappedServices(routes: Routes): VirtualWorkspace {
  return view("services", "/services", routes);
}

function view(name: string, prefix: string, routes: Routes): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    prefix,
    path: "/",
    authorize: () => allow(),
    takesToken: true,
    passesImpersonation: true,
    handles: () => true,
    handle: (req, res, request) => routeOf(routes, request).handle(req, res, request),
    upgrade: (req, socket, request) => routeOf(routes, request).upgrade(req, socket, request),
  });
}

/** @throws ApiError 404 where nothing is mapped */
function routeOf(routes: Routes, { prefix, tail }: Pick<RawRequest<unknown>, "prefix" | "tail">): Route {
  const route = routes.of(prefix + tail);
  if (route === undefined) throw ApiError.notFoundPath();
  return route;
}
