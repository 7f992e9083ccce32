// Requests passed on over the package `http-proxy`, for who has to have it: `npm install http-proxy` beside the framework. The rest
// is as over any engine: docs/how-to/proxying.md says what this one leaves out.
import { authenticated, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { type HttpProxyOptions, httpProxyEngine } from "@virtual-workspaces/framework/http-proxy";
import { proxy } from "@virtual-workspaces/framework/proxy";

/** A view of another API server, asked as the caller, whom `X-Remote-*` names: it has to trust our client certificate for that. */
export function archiveView(options: HttpProxyOptions): VirtualWorkspace {
  const engine = httpProxyEngine(options);
  const { handle, upgrade } = proxy({
    upstream: engine,
    path: ({ tail }) => tail,
    headers: ({ user }) => ["X-Remote-User", user.name, ...user.groups.flatMap((group) => ["X-Remote-Group", group])],
    what: "the archive",
  });
  return defineVirtualWorkspace({
    name: "archive",
    path: "/",
    authorize: authenticated(),
    handle,
    upgrade,
    setup: () => engine, // closed with the server
  });
}
