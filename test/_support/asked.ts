// Questions for authorizers, as a server would put them.
import type { AuthorizeRequest, User } from "@virtual-workspaces/framework";
import { pathInfo } from "@virtual-workspaces/framework/request";

const NOTHING = pathInfo("get", "/");

/** About an object, or objects. */
export function asked(user: User, about: Partial<AuthorizeRequest>): AuthorizeRequest {
  const { signal } = new AbortController();
  return { ...NOTHING, isResource: about.path === undefined, user, params: { cluster: "root" }, signal, ...about };
}
