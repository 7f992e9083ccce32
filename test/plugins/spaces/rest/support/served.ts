// A provider over REST on a port of its own, with a token for a manager.
import {
  type Authorizer,
  allow,
  createServer,
  deny,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import { type SpaceProvider, type SpaceProviderViewOptions, spaceProviderView } from "@virtual-workspaces/spaces";
import { testLog } from "../../../../_setup/log.ts";

/** Token of the manager; `stranger` is that of a user without rights. */
export const TOKEN = "managers-token";
export const STRANGER = "strangers-token";

export interface Served extends AsyncDisposable {
  /** Base URL of the protocol. */
  readonly url: string;
  /** Shuts down gracefully. */
  close(): Promise<void>;
}

export interface ServedOptions extends Partial<SpaceProviderViewOptions> {
  /** @default any free port */
  readonly port?: number;
  readonly token?: string;
  readonly server?: Partial<ServerOptions>;
}

const managers: Authorizer<unknown> = ({ user }) =>
  user.name === "manager" ? allow() : deny("managers alone may ask");

/** Serves a provider. Its exceptions fail the test unless the test sets a handler. */
export async function serve(provider: SpaceProvider, options: ServedOptions = {}): Promise<Served> {
  const { port = 0, token = TOKEN, server: more = {}, ...view } = options;
  const { log } = testLog();
  const onError = (error: unknown): void => log({ level: "error", message: String(error) });
  const server = createServer({
    virtualWorkspaces: [spaceProviderView(provider, { authorize: managers, onError, ...view })],
    authentication: [staticTokens({ [token]: { name: "manager" }, [STRANGER]: { name: "stranger" } })],
    log,
    ...more,
  });
  const { url } = await server.listen({ port });
  const close = (): Promise<void> => server.close();
  return { url: `${url}/services/spaces`, close, [Symbol.asyncDispose]: close };
}
