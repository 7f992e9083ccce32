import {
  allow,
  defineVirtualWorkspace,
  deny,
  deriveRequest,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { strangers } from "../users/strangers.ts";
import type { Places } from "./places.ts";

/**
 * Workspaces by their paths below `/clusters`, wherever they are. Who may do what is for shards to say. All logical clusters at once
 * (`*`) are a shard's affair, and 403 here, as in kcp.
 */
export function clustersView(places: Places): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    authentication: () => [strangers],
    locate: (said, { user }) => places.locate(said, user),
    authorize: ({ params }) => (params.cluster === "*" ? deny("workspace access not permitted") : allow()),
    takesToken: true,
    passesImpersonation: true,
    handles: () => true,
    handle: (req, res, request) => {
      const { server, prefix } = places.of(request.params, request.user);
      return server.handle(req, res, deriveRequest(request, { prefix }));
    },
    upgrade: (req, socket, request) => {
      const { server, prefix } = places.of(request.params, request.user);
      return server.upgrade(req, socket, deriveRequest(request, { prefix }));
    },
  });
}
