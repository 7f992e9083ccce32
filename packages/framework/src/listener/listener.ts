import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { LISTENER_LIMITS, MAX_HEADERS_COUNT } from "./listener-limits.ts";
import { refuseMalformed, shouldUpgradeCallback } from "./malformed.ts";
import type { ServingTls } from "./tls/serving.ts";

/** How a listener does TLS. */
export interface ListenerTls {
  readonly serving: ServingTls;
  /** Names of what is offered in handshakes (ALPN), the preferred first; asked for each. */
  readonly protocols: () => readonly string[];
}

/** A Node server with our limits, that has no request handler yet. */
export function createListener(tls?: ListenerTls): HttpServer {
  const server = tls === undefined ? createHttpServer({ ...LISTENER_LIMITS, shouldUpgradeCallback }) : tlsListener(tls);
  server.maxHeadersCount = MAX_HEADERS_COUNT;
  refuseMalformed(server);
  return server;
}

function tlsListener({ serving, protocols }: ListenerTls): HttpServer {
  return createHttpsServer({
    ...LISTENER_LIMITS,
    shouldUpgradeCallback,
    ...serving.listenerOptions,
    handshakeTimeout: LISTENER_LIMITS.headersTimeout,
    // A client that offers none of ours is refused; one that offers nothing speaks HTTP/1.1.
    ALPNCallback: ({ protocols: theirs }) => protocols().find((ours) => theirs.includes(ours)),
    // Asks clients for a certificate and goes on without one: other authenticators may know them.
    ...(serving.clientCa.length === 0 ? {} : { requestCert: true, rejectUnauthorized: false }),
  });
}
