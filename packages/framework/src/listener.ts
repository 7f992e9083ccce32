import { constants } from "node:crypto";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer as createHttpsServer, type ServerOptions as HttpsOptions } from "node:https";
import type { Authenticator } from "./authn/authenticator.ts";
import { LISTENER_LIMITS, MAX_HEADERS_COUNT } from "./limits.ts";
import { refuseMalformed } from "./malformed.ts";

/** Certificate and key of a TLS server, PEM. */
export interface TlsOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /**
   * PEM of more authorities than those of the authenticators: a client certificate of one of these passes the
   * handshake, and then some authenticator must know it. Above an authority that has not signed itself there must be
   * one that has, here if nowhere else. @default none
   */
  readonly clientCa?: string | Buffer;
}

/** The authorities that a handshake checks client certificates against; none: it asks for no certificate. */
export function clientAuthorities(options: {
  readonly tls?: TlsOptions;
  readonly authentication: readonly Authenticator[];
}): readonly (string | Buffer)[] {
  const { tls, authentication } = options;
  return tls === undefined ? [] : [...authentication, tls].flatMap(({ clientCa }) => clientCa ?? []);
}

/** A Node server with our limits, that has no request handler yet. */
export function createListener(tls: TlsOptions | undefined, clientCa: readonly (string | Buffer)[]): HttpServer {
  const server = tls === undefined ? createHttpServer(LISTENER_LIMITS) : tlsListener(tls, clientCa);
  server.maxHeadersCount = MAX_HEADERS_COUNT;
  refuseMalformed(server);
  return server;
}

function tlsListener({ cert, key }: TlsOptions, clientCa: readonly (string | Buffer)[]): HttpServer {
  return createHttpsServer({ ...LISTENER_LIMITS, cert, key, ...(clientCa.length === 0 ? {} : asking(clientCa)) });
}

/** Asks clients for a certificate and goes on without one: other authenticators may know them. */
function asking(ca: readonly (string | Buffer)[]): HttpsOptions {
  return {
    ca: [...ca],
    requestCert: true,
    rejectUnauthorized: false,
    // A resumed session has forgotten the certificates between the client's and the authority's.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
