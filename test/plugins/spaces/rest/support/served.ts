// A provider that is served over REST, on a port of its own, to a manager with a token.
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

/** By which the manager is known; `stranger` is somebody's who may do nothing. */
export const TOKEN = "managers-token";
export const STRANGER = "strangers-token";

export interface Served extends AsyncDisposable {
  /** What the paths of the protocol are below. */
  readonly url: string;
  /** Ends gracefully. */
  close(): Promise<void>;
}

export interface ServedOptions extends Partial<SpaceProviderViewOptions> {
  /** @default any free one */
  readonly port?: number;
  readonly token?: string;
  readonly server?: Partial<ServerOptions>;
}

const managers: Authorizer<unknown> = ({ user }) =>
  user.name === "manager" ? allow() : deny("managers alone may ask");

/** Serves a provider. What it throws is a fault of the test, unless that says who is told. */
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
