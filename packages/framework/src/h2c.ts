import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hasBody } from "./body/has-body.ts";

const HTTP_2 = /^\s*h2c\s*(?:,\s*h2c\s*)*$/i;

/** Whether all that an upgrade offers is HTTP/2 in the open: not taken, so that the request is as if it did not (RFC 9110, 7.8). */
export function offersHttp2Alone({ headers: { upgrade } }: IncomingMessage): boolean {
  return upgrade !== undefined && HTTP_2.test(upgrade);
}

/** Connections on which one has come. */
const last = new WeakSet<Socket>();

/**
 * Whether a request is to be served. One that offers HTTP/2 is the last of its connection: Node loses what comes behind it
 * in the same packet, and would take the rest of that for a request.
 */
export function isServed(req: IncomingMessage, res: ServerResponse): boolean {
  if (last.has(req.socket)) return false;
  if (offersHttp2Alone(req)) {
    last.add(req.socket);
    res.shouldKeepAlive = false;
  }
  return true;
}

/** Whether one is served that Node took for an upgrade all the same: before 24.9, and in others' servers. A body is lost by then. */
export function isPlain(req: IncomingMessage): boolean {
  return offersHttp2Alone(req) && !hasBody(req);
}
