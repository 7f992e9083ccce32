import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import type { RawRequest } from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import type { Route } from "../peers/peer-routes.ts";
import { impersonationOf } from "../protocol/impersonation.ts";
import { type ProxyKey, proxyError, proxyKeyText } from "../protocol/proxy-key.ts";
import { RETRY_AFTER } from "../protocol/retry-after.ts";
import { isTunnelError, type TunnelErrorCode } from "../tunnel/tunnel-error.ts";
import type { Connection } from "./connections.ts";

const WHAT = "the remote cluster of this ClusterProxy";
/** Proxy for a remote cluster. */
export type Remote = Pick<Relay, "handle" | "upgrade">;

/** Connection over one route. */
interface RemoteConnection {
  readonly connection: Connection;
  readonly remote: Remote;
  readonly upstream: ForeignUpstream;
}

/**
 * Proxies for remote clusters. Each route has its own, so that new requests avoid a route that is about to end. Memory: 100 KiB for each
 * route with requests.
 */
export class RemoteClusters {
  readonly #routesTo: (key: ProxyKey) => readonly Route[];
  readonly #onError: (error: unknown) => void;
  readonly #made = new Map<string, Map<Route, RemoteConnection>>();

  /** @param routesTo usable routes, the best first */
  constructor(routesTo: (key: ProxyKey) => readonly Route[], onError: (error: unknown) => void) {
    this.#routesTo = routesTo;
    this.#onError = onError;
  }

  /** Returns a proxy that forwards requests with the caller's identity for remote clusters; `undefined` without a route. */
  of(key: ProxyKey, connection: Connection): Remote | undefined {
    const [route] = this.#routesTo(key);
    if (route === undefined) return undefined;
    const text = proxyKeyText(key);
    const ofKey = this.#made.get(text) ?? new Map<Route, RemoteConnection>();
    const known = ofKey.get(route);
    if (known?.connection === connection) return known.remote;
    void known?.upstream[Symbol.asyncDispose]();
    const made = this.#connect(route, key, connection);
    this.#made.set(text, ofKey.set(route, made));
    void route.closed.then(() => this.#forget(text, route));
    return made.remote;
  }

  /** Closes connections with earlier settings, or all if the ClusterProxy is gone. */
  changed(key: ProxyKey, connection: Connection | undefined): void {
    for (const [route, made] of this.#made.get(proxyKeyText(key)) ?? [])
      if (made.connection !== connection) this.#forget(proxyKeyText(key), route);
  }

  #forget(text: string, route: Route): void {
    const ofKey = this.#made.get(text);
    void ofKey?.get(route)?.upstream[Symbol.asyncDispose]();
    ofKey?.delete(route);
    if (ofKey?.size === 0) this.#made.delete(text);
  }

  #connect(route: Route, key: ProxyKey, connection: Connection): RemoteConnection {
    const { target, text: _, ...asked } = connection;
    const upstream = new ForeignUpstream({
      ...asked,
      dial: (_to, { signal }) => this.#open(key, { target, signal, first: route }),
      what: WHAT,
    });
    void route.draining.then(() => upstream.drain());
    const onError = (error: unknown): void => this.#onError(proxyError(key, "a request has failed", error));
    const passed = relay({ upstream, identity: impersonationOf, path: ({ tail }) => tail || "/", what: WHAT, onError });
    const { ending } = route;
    return {
      connection,
      upstream,
      remote: withAgentErrors(ending === undefined ? passed : endingWith(passed, ending)),
    };
  }

  /** Opens a connection over one route, or over another if that one is closed. @throws TunnelError; the signal's reason */
  async #open(
    key: ProxyKey,
    { target, signal, first }: { readonly target: string; readonly signal: AbortSignal; readonly first: Route },
  ): Promise<Duplex> {
    let failure: unknown;
    for (const route of new Set([first, ...this.#routesTo(key)]))
      try {
        return await route.open(target, { signal });
      } catch (error) {
        // No request was sent on it, so another route may be used.
        if (!isTunnelError(error) || (error.code !== "draining" && error.code !== "closed")) throw error;
        failure = error;
      }
    throw failure;
  }
}

/** Adds the agent's error to the response if it is the reason of a failed connection. */
function withAgentErrors({ handle, upgrade }: Remote): Remote {
  const told = async (passing: Promise<void>): Promise<void> => {
    try {
      await passing;
    } catch (error) {
      throw agentError(error) ?? error;
    }
  };
  return {
    handle: (req, res, request) => told(handle(req, res, request)),
    upgrade: (req, socket, request) => told(upgrade(req, socket, request)),
  };
}

const AGENT_ERRORS: Partial<Readonly<Record<TunnelErrorCode, ApiError>>> = {
  refused: ApiError.serviceUnavailable(
    "the agent of this ClusterProxy does not support its spec.tls: change spec.tls, or how the agent is started",
  ),
  unreachable: ApiError.serviceUnavailable(
    "the agent of this ClusterProxy cannot connect to its API server: check the API server and the agent's log",
    RETRY_AFTER,
  ),
};

/** Returns 503 for a tunnel error at the end of a chain of causes. */
function agentError(error: unknown): ApiError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const said = isTunnelError(cause) ? AGENT_ERRORS[cause.code] : undefined;
    if (said !== undefined) return new ApiError(said.status, { cause: error as Error });
  }
  return undefined;
}

/** Ends watches together with the route, so that clients resume over another. */
function endingWith({ handle, upgrade }: Remote, over: AbortSignal): Remote {
  const until = <R extends RawRequest<unknown>>(request: R): R =>
    deriveRequest(request, {
      get ending() {
        return AbortSignal.any([request.ending, over]);
      },
    });
  return {
    handle: (req, res, request) => handle(req, res, until(request)),
    upgrade: (req, socket, request) => upgrade(req, socket, until(request)),
  };
}
