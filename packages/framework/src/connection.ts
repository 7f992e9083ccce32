import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** What knows its connection by itself. */
export interface Carried {
  /** Undefined where it is not known. */
  readonly carrier: Socket | undefined;
}

/**
 * What a request came on, the same for all its requests: with TLS a `TLSSocket`. Never to be written to. A request of
 * HTTP/2 has a `socket` that only stands for it, another one for each request.
 */
export function connectionOf(request: IncomingMessage): Socket {
  return (request as Partial<Carried>).carrier ?? request.socket;
}
