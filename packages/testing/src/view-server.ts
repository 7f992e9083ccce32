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
import { untilReady } from "./until-ready.ts";

/** Options of a server of views alone: every option of a server, except TLS. */
export interface TestViewServerOptions extends Partial<Omit<ServerOptions, "virtualWorkspaces" | "tls">> {
  /** User of {@link TestViewServer.credentials}. @default "tester", only in the group `system:authenticated` */
  readonly user?: Partial<Identity> & { readonly name: string };
  /** Time limit for `/readyz` to pass, ms. 0: do not wait, for tests of views that are not ready. @default 10000 */
  readonly readyWithin?: number;
}

/** Server of views alone, for their tests. It runs until it is disposed. */
export interface TestViewServer extends AsyncDisposable {
  readonly server: Server;
  /** `http://127.0.0.1:<port>`, without a trailing slash. A view is at `/services/<name>`, or at its prefix and path. */
  readonly url: string;
  /** Token of this server alone. */
  readonly credentials: Credentials & { readonly token: string };
}

/**
 * Serves views on a free port over plain HTTP, to one user with a token.
 *
 * @throws the error of a view's `setup`, and Error when a view is not ready in time
 */
export async function startViewServer(
  virtualWorkspaces: readonly VirtualWorkspace[],
  options: TestViewServerOptions = {},
): Promise<TestViewServer> {
  const { user = { name: "tester" }, authentication = [], readyWithin, ...rest } = options;
  const token = randomUUID();
  const server = createServer({
    tls: false,
    ...rest,
    virtualWorkspaces,
    authentication: [staticTokens({ [token]: user }), ...authentication],
  });
  const { url } = await server.listen({ port: 0 });
  try {
    await untilReady({ url }, readyWithin);
  } catch (error) {
    await server.close();
    throw error;
  }
  return { server, url, credentials: { token }, [Symbol.asyncDispose]: () => server.close() };
}
