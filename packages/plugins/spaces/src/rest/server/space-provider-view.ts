import { type Authorizer, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { SpaceProvider } from "../../provider/provider.ts";
import { SILENCE } from "../protocol/protocol.ts";
import { SpaceRoutes } from "./routes.ts";

/** Options of {@link spaceProviderView}. */
export interface SpaceProviderViewOptions {
  /**
   * Authorizer of all requests, such as `groups("…")`, or `authenticated()` if the server has no other users. Security: authorized users
   * are administrators of all spaces.
   */
  readonly authorize: Authorizer<unknown>;
  /** Name within the server. @default "spaces", at `/services/spaces` */
  readonly name?: string;
  /** Path prefix; `/` takes the whole server. @default `/services/<name>` */
  readonly prefix?: string;
  /** Version of the provider in its status, 1 to 253 characters. @default "v1" */
  readonly version?: string;
  /** Whether the provider supports {@link ProviderCall.parent}; otherwise requests with it get 501. @default false */
  readonly hierarchy?: boolean;
  /** Called for each request; throws while the provider cannot answer for its spaces. The status and the 503 show its message. @default always ready */
  readonly ready?: () => Awaitable<void>;
  /** Time limit of a provider's call, ms; then 504. @default 30000 */
  readonly callTimeout?: number;
  /** Longest pause in a watch, ms, at most 30000. @default 10000 */
  readonly heartbeat?: number;
  /** Called with errors of the provider. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Serves a provider to managers in other processes, by the protocol of {@link spaceProviderOpenAPI}; `restProvider()` is the client. The
 * result is a virtual workspace: `createServer` adds TLS and a port, and `virtualWorkspaces` makes it a middleware of Express or a plain
 * Node.js server. Their authenticators identify the callers; unauthenticated requests are rejected.
 *
 * Callers receive the messages of the provider's errors. The view validates the provider's results.
 *
 * @throws Error on invalid options
 */
export function spaceProviderView(provider: SpaceProvider, options: SpaceProviderViewOptions): VirtualWorkspace {
  const { authorize, name = "spaces", prefix, version = "v1", callTimeout = 30_000, heartbeat = 10_000 } = options;
  if (!(callTimeout >= 1 && callTimeout < 2 ** 31))
    throw new Error("invalid callTimeout of spaceProviderView: use at least 1 ms");
  if (!(heartbeat >= 1 && heartbeat <= SILENCE))
    throw new Error(`invalid heartbeat of spaceProviderView: use 1 to ${SILENCE} ms`);
  if (version.length < 1 || version.length > 253)
    throw new Error("invalid version of spaceProviderView: use 1 to 253 characters");
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
