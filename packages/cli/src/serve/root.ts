import {
  type Authorizer,
  allow,
  defineVirtualWorkspace,
  deny,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp";

/** Paths that are no view's are for masters, to whom they are 404: nobody else learns what there is. */
export const mastersAlone: Authorizer<unknown> = ({ user }) =>
  user.in(MASTERS_GROUP) ? allow() : deny("access denied");

/** What kcp's server has beside its views: a probe of the older kind for anybody, the version and empty discovery for masters. */
export function rootView(): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "root",
    prefix: "/",
    path: "/",
    authorize: (request) => (request.path === "/healthz" ? allow() : mastersAlone(request)),
    resources: [],
  });
}
