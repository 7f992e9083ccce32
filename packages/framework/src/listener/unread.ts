import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { hasBody, linger } from "./malformed.ts";

/**
 * For a request that is answered although its body is not read to its end: the connection closes behind the answer, and
 * the answer says so. Until then the rest of the body is thrown away, for a moment: a connection that is cut with bytes
 * unread takes its last answer with it.
 */
export function closeBehindAnswer(req: IncomingMessage, res: ServerResponse | undefined): void {
  if (req.complete || req.destroyed) return;
  const { stream } = req as { readonly stream?: ServerHttp2Stream };
  if (stream !== undefined) resetBehindAnswer(stream);
  else if (res === undefined) req.resume();
  else if (res.headersSent) discard(req);
  else {
    res.shouldKeepAlive = false;
    // What Node calls when such an answer is written; it would cut the connection at once. Reading on before that would
    // ask for a body that a client holds back (`Expect: 100-continue`).
    req.socket.destroySoon = () => discard(req);
  }
}

/**
 * How long the rest of a body may take behind its answer, ms: as long as a head. A connection is then used again, which
 * a client that trickles would put off for ever.
 */
const REST = 32_000;

/** For every request: the body of one that is answered without it has a time in which it must have ended. */
export function boundRest(req: IncomingMessage, res: ServerResponse): void {
  if (!hasBody(req)) return;
  res.once("finish", () => {
    if (req.complete) return;
    const timer = setTimeout(() => {
      if (!req.complete) req.socket.destroy(); // over HTTP/2 the stream alone
    }, REST).unref();
    req.once("close", () => clearTimeout(timer));
  });
}

/** HTTP/2 says by itself that the rest of a body is not wanted, and the connection is others' too. */
function resetBehindAnswer(stream: ServerHttp2Stream): void {
  if (stream.writableFinished) stream.close();
  else stream.once("finish", () => stream.close());
}

function discard(req: IncomingMessage): void {
  req.resume();
  if (!req.socket.destroyed) linger(req.socket);
}
