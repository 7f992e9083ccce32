import { type Authorizer, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { SpaceProvider } from "../../provider/provider.ts";
import { SILENCE } from "../protocol/protocol.ts";
import { SpaceRoutes } from "./routes.ts";

/** How {@link spaceProviderView} answers. */
export interface SpaceProviderViewOptions {
  /** Who may ask: whoever may has all spaces, as their administrator. `groups("…")`, or `authenticated()` where the server knows nobody else. */
  readonly authorize: Authorizer<unknown>;
  /** Its name within the server. @default "spaces", at `/services/spaces` */
  readonly name?: string;
  /** Where it is otherwise: `/` for all of a server. @default `/services/<name>` */
  readonly prefix?: string;
  /** What its status says of the provider, 1 to 253 characters. @default "v1" */
  readonly version?: string;
  /** Whether the provider minds {@link ProviderCall.parent}: requests that have one are 501 otherwise. @default false */
  readonly hierarchy?: boolean;
  /** Throws as long as the provider cannot answer for its spaces: its message is told, in the status as with 503. Asked with each request. @default it can */
  readonly ready?: () => Awaitable<void>;
  /** How long the provider may take for a call, ms: 504 then. @default 30000 */
  readonly callTimeout?: number;
  /** How long a watch says nothing, ms, 30000 at most. @default 10000 */
  readonly heartbeat?: number;
  /** Told what the provider throws. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Serves a provider for managers in other processes, as {@link spaceProviderOpenAPI} says: `restProvider()` is the other end. A virtual workspace: `createServer` gives it TLS and a port,
 * `virtualWorkspaces` makes it a middleware of Express or of a plain Node server, and the authenticators of either say who asks. Nobody is answered whom they do not know.
 *
 * What the provider throws is told whoever asks, by its message. What it says is checked before.
 *
 * @throws Error on options that cannot be used
 */
export function spaceProviderView(provider: SpaceProvider, options: SpaceProviderViewOptions): VirtualWorkspace {
  const { authorize, name = "spaces", prefix, version = "v1", callTimeout = 30_000, heartbeat = 10_000 } = options;
  if (!(callTimeout >= 1 && callTimeout < 2 ** 31))
    throw new Error("callTimeout of spaceProviderView: give milliseconds, 1 at least");
  if (!(heartbeat >= 1 && heartbeat <= SILENCE))
    throw new Error(
      `heartbeat of spaceProviderView: give milliseconds, ${SILENCE} at most: clients take silence for an end`,
    );
  if (version.length < 1 || version.length > 253)
    throw new Error("version of spaceProviderView: give 1 to 253 characters");
  const { hierarchy = false, ready = () => undefined, onError = warn } = options;
  const routes = new SpaceRoutes({ provider, version, hierarchy, ready, callTimeout, heartbeat, onError });
  return defineVirtualWorkspace({
    name,
    path: "/",
    authorize,
    ...(prefix !== undefined && { prefix }),
    handleWhen: () => true,
    handle: (req, res, request) => routes.answer(req, res, request),
  });
}

function warn(error: unknown): void {
  process.emitWarning(`space provider: ${String(error)}`);
}
