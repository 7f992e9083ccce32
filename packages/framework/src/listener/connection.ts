import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** What knows its connection by itself. */
export interface Carried {
  /** Undefined where it is not known. */
  readonly carrier: Socket | undefined;
}

/**
 * The connection that a request came on, the same for all its requests: with TLS a `TLSSocket`. For authenticators that
 * look at a certificate or an address once for a connection: `request.socket` of HTTP/2 only stands for it, another one
 * for each request. Never to be written to, closed, or waited for: it is others' too.
 */
export function connectionOf(request: IncomingMessage): Socket {
  return (request as Partial<Carried>).carrier ?? request.socket;
}

/** What the client has shown, whoever has signed it. */
export function clientCertificate(request: IncomingMessage): X509Certificate | undefined {
  const socket = connectionOf(request) as Partial<TLSSocket>;
  return socket.getPeerX509Certificate?.();
}
