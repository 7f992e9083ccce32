// Server of a virtual workspace that forwards everything to a cluster, as the user that the front proxy names.
import { authenticated, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { requestHeader } from "@virtual-workspaces/framework/authn";
import { proxy } from "@virtual-workspaces/framework/proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { Authority, SERVER_AUTH } from "../../_support/certificates.ts";
import { AUTHORITY } from "../../cli/support/front.ts";

export interface BehindPath extends AsyncDisposable {
  readonly url: string;
  /** Certificate authority, PEM. */
  readonly ca: string;
}

/** @param name of the view: `/services/<name>`. @param cluster its URL */
export async function startBehindPath(name: string, cluster: string): Promise<BehindPath> {
  const authority = Authority.root("behind");
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(new Upstream({ url: cluster }));
  const { handle, upgrade } = proxy({
    upstream,
    path: ({ tail }) => tail,
    headers: ({ user }) => ["Impersonate-User", user.name],
  });
  const server = stack.use(
    createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name,
          path: "/",
          authorize: authenticated(),
          handleWhen: () => true,
          handle,
          upgrade,
        }),
      ],
      authentication: [requestHeader({ ca: AUTHORITY.cert, allowedNames: ["front-proxy"] })],
      tls: authority.issue({ name: "localhost", usages: [SERVER_AUTH] }),
    }),
  );
  const { url } = await server.listen({ port: 0 });
  const all = stack.move();
  return { url, ca: authority.cert, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
