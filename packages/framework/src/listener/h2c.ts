import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hasBody } from "./malformed.ts";

const HTTP_2 = /^\s*h2c\s*(?:,\s*h2c\s*)*$/i;

/** Whether all that an upgrade offers is HTTP/2 in the open: not taken, so that the request is as if it did not (RFC 9110, 7.8). */
function offersHttp2Alone({ headers: { upgrade } }: IncomingMessage): boolean {
  return upgrade !== undefined && HTTP_2.test(upgrade);
}

/** By connection, the first that has come on it. */
const offers = new WeakMap<Socket, IncomingMessage>();

/** For Node's servers: what is an upgrade by its headers, and is to be one. Nodes before 24.9 do not ask: see {@link isPlain}. */
export function shouldUpgradeCallback(req: IncomingMessage): boolean {
  if (!offersHttp2Alone(req)) return true;
  if (!offers.has(req.socket)) offers.set(req.socket, req);
  return false;
}

/**
 * Whether a request is to be served. One that offers HTTP/2 is the last of its connection: Node loses what comes behind it
 * in the same packet, and would take the rest of that for a request.
 */
export function isServed(req: IncomingMessage, res: ServerResponse): boolean {
  const offer = offers.get(req.socket);
  if (offer === undefined) return true;
  res.shouldKeepAlive = false;
  return offer === req;
}

/** Whether one is served that Node took for an upgrade all the same: before 24.9, and in others' servers. A body is lost by then. */
export function isPlain(req: IncomingMessage): boolean {
  return offersHttp2Alone(req) && !hasBody(req);
}
