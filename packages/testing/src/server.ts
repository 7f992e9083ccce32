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

/** What a test server does unlike others: any option of a server, but TLS. */
export interface TestServerOptions extends Partial<Omit<ServerOptions, "virtualWorkspaces" | "tls">> {
  /** Whom {@link TestServer.credentials} stand for. @default "tester", in no group but `system:authenticated` */
  readonly user?: Partial<Identity> & { readonly name: string };
}

/** A server for tests, up until it is disposed of. */
export interface TestServer extends AsyncDisposable {
  readonly server: Server;
  /** `http://127.0.0.1:<port>`, without a trailing slash: a view is at `/services/<name>`, or its prefix, and its path. */
  readonly url: string;
  /** A token of this server alone. */
  readonly credentials: Credentials & { readonly token: string };
}

/**
 * Serves views on a free port of this machine, over plain HTTP, to one user with a token. Whoever can reach the port
 * and knows the token is that user: for tests only.
 *
 * @throws what a view's `setup` throws, and Error on views that clash
 */
export async function startTestServer(
  virtualWorkspaces: readonly VirtualWorkspace[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const { user = { name: "tester" }, authentication = [], ...rest } = options;
  const token = randomUUID();
  const server = createServer({
    ...rest,
    virtualWorkspaces,
    authentication: [staticTokens({ [token]: user }), ...authentication],
  });
  const { url } = await server.listen({ port: 0 });
  return { server, url, credentials: { token }, [Symbol.asyncDispose]: () => server.close() };
}
