import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { Http1Request } from "./connections.ts";
import { LISTENER_LIMITS, MAX_HEADERS_COUNT } from "./listener-limits.ts";
import { refuseMalformed, shouldUpgradeCallback } from "./malformed.ts";
import type { ServingTls } from "./tls/serving.ts";

/** Address a server listens on. */
export interface ListenOptions {
  /** Port; 0 for any free one. */
  readonly port: number;
  /** Host name or address. @default "127.0.0.1", this machine only */
  readonly host?: string;
}

/** A running API server. */
export interface Listening {
  readonly port: number;
  /** Base URL, without a trailing slash: `https://127.0.0.1:6444`. */
  readonly url: string;
}

/** TLS options of a listener. */
export interface ListenerTls {
  readonly serving: ServingTls;
  /** Returns the protocols to offer in a handshake (ALPN), the preferred first; called for each. */
  readonly protocols: () => readonly string[];
}

/** Creates a Node server with the framework's limits and without a request handler. */
export function createListener(tls?: ListenerTls): HttpServer {
  const server =
    tls === undefined
      ? createHttpServer({ ...LISTENER_LIMITS, IncomingMessage: Http1Request, shouldUpgradeCallback })
      : tlsListener(tls);
  server.maxHeadersCount = MAX_HEADERS_COUNT;
  refuseMalformed(server);
  return server;
}

function tlsListener({ serving, protocols }: ListenerTls): HttpServer {
  return createHttpsServer({
    ...LISTENER_LIMITS,
    IncomingMessage: Http1Request,
    shouldUpgradeCallback,
    ...serving.listenerOptions,
    handshakeTimeout: LISTENER_LIMITS.headersTimeout,
    // A client without a common protocol is rejected; one that offers none speaks HTTP/1.1.
    ALPNCallback: ({ protocols: theirs }) => protocols().find((ours) => theirs.includes(ours)),
    // Requests a client certificate without requiring one: other authenticators may recognize the client.
    ...(serving.clientCa.length === 0 ? {} : { requestCert: true, rejectUnauthorized: false }),
  });
}
