import type { IncomingMessage, ServerResponse } from "node:http";
import { linger } from "../malformed.ts";

/**
 * For a request that is answered although its body is not read to its end: the connection closes behind the answer, and
 * the answer says so. Until then the rest of the body is thrown away, for a moment: a connection that is cut with bytes
 * unread takes its last answer with it.
 */
export function closeBehindAnswer(req: IncomingMessage, res: ServerResponse | undefined): void {
  if (req.complete || req.destroyed) return;
  if (res === undefined) req.resume();
  else if (res.headersSent) discard(req);
  else {
    res.shouldKeepAlive = false;
    // What Node calls when such an answer is written; it would cut the connection at once. Reading on before that would
    // ask for a body that a client holds back (`Expect: 100-continue`).
    req.socket.destroySoon = () => discard(req);
  }
}

function discard(req: IncomingMessage): void {
  req.resume();
  if (!req.socket.destroyed) linger(req.socket);
}
