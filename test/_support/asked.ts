// Requests for authorizers, in the form that a server uses.
import type { AuthorizeRequest, User } from "@virtual-workspaces/framework";
import { pathInfo } from "@virtual-workspaces/framework/request";

const NOTHING = pathInfo("get", "/");

/** Returns a request for one or more objects. */
export function asked(user: User, about: Partial<AuthorizeRequest>): AuthorizeRequest {
  const { signal } = new AbortController();
  return { ...NOTHING, isResource: about.path === undefined, user, params: { cluster: "root" }, signal, ...about };
}
