import { randomUUID } from "node:crypto";
import {
  createServer,
  type Identity,
  type Server,
  type ServerOptions,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Credentials } from "./http/credentials.ts";

/** Options of a test server: every option of a server, except TLS. */
export interface TestServerOptions extends Partial<Omit<ServerOptions, "virtualWorkspaces" | "tls">> {
  /** User of {@link TestServer.credentials}. @default "tester", only in the group `system:authenticated` */
  readonly user?: Partial<Identity> & { readonly name: string };
}

/** Server for tests, which runs until it is disposed. */
export interface TestServer extends AsyncDisposable {
  readonly server: Server;
  /** `http://127.0.0.1:<port>`, without a trailing slash. A view is at `/services/<name>`, or at its prefix and path. */
  readonly url: string;
  /** Token of this server alone. */
  readonly credentials: Credentials & { readonly token: string };
}

/**
 * Serves views on a free port of this machine, over plain HTTP, to one user with a token. Security: every client that can
 * reach the port and knows the token acts as that user, so use it only in tests.
 *
 * @throws the error of a view's `setup`, and Error for views that clash
 */
export async function startTestServer(
  virtualWorkspaces: readonly VirtualWorkspace[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const { user = { name: "tester" }, authentication = [], ...rest } = options;
  const token = randomUUID();
  const server = createServer({
    tls: false,
    ...rest,
    virtualWorkspaces,
    authentication: [staticTokens({ [token]: user }), ...authentication],
  });
  const { url } = await server.listen({ port: 0 });
  return { server, url, credentials: { token }, [Symbol.asyncDispose]: () => server.close() };
}
