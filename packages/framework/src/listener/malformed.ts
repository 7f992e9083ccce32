// What Node's HTTP servers leave to whoever uses them: malformed requests, expectations, offers of HTTP/2 in the open,
// bodies that nobody reads to their end.

import type { EventEmitter } from "node:events";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import { respondStatus } from "../encode/respond.ts";

/** How long a refused client may take to read why before its connection is cut, ms. */
const LINGER = 500;

/** Nobody is there to be told: the client has left, or has not come to the end of its handshake. */
const UNTOLD: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "ERR_TLS_HANDSHAKE_TIMEOUT"]);

/** Refuses with a Status what Node would answer without a body, or by closing the connection. */
export function refuseMalformed(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // What comes after a refusal is no news: the connection lingers, and is cut soon.
    if (socket.writableEnded) return;
    if (UNTOLD.has(error.code) || !socket.writable) socket.destroy();
    else refuse(socket, problemOf(error.code));
  });
  server.on("connect", (_req: IncomingMessage, socket: Socket) => {
    socket.on("error", ignore);
    refuse(socket, problem(405, "this is no proxy: CONNECT is not served"));
  });
  refuseExpectations(server);
}

/** Expectations, over HTTP/1.1 and HTTP/2. */
export function refuseExpectations(server: EventEmitter): void {
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    if (hasBody(req)) goOnWhenRead(req, res);
    else goOn(res);
    server.emit("request", req, res);
  });
  server.on("checkExpectation", (_req: IncomingMessage, res: ServerResponse) => {
    respondStatus(res, problem(417, "the only expectation that can be met is 100-continue"));
  });
}

/**
 * Asks for the body when somebody begins to read it. Until then an answer closes the connection: whether the body follows
 * all the same, or the next request, cannot be told.
 */
function goOnWhenRead(req: IncomingMessage, res: ServerResponse): void {
  const { shouldKeepAlive } = res;
  const { _read: read } = req;
  res.shouldKeepAlive = false;
  req._read = (size) => {
    req._read = read;
    if (!res.headersSent) {
      res.shouldKeepAlive = shouldKeepAlive;
      goOn(res);
    }
    read.call(req, size);
  };
}

/** Behind an answer that is under way, Node would write a 100 between the head and the body of the answer to come. */
function goOn(res: ServerResponse): void {
  const write = (): void => {
    if (!res.headersSent) res.writeContinue();
  };
  if (res.socket === null) res.once("socket", write);
  else write();
}

function problemOf(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") return problem(431, "the header block is larger than 1 MiB");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return problem(408, "the request's head did not arrive in time");
  return ApiError.badRequest("the request is not well-formed HTTP/1.1");
}

/** Codes for which Kubernetes has no reason. */
export function problem(code: number, message: string): ApiError {
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
  return new ApiError(status);
}

/** Answers on a connection for which Node has made no response, and closes it. */
function refuse(socket: Socket, error: ApiError): void {
  const res = responseOn(socket, new IncomingMessage(socket));
  if (res !== undefined) respondStatus(res, error);
}

/**
 * A response of our own, which closes the connection behind it. `undefined` when an earlier answer is under way on the
 * connection: that one goes out as far as it is written, and the connection closes behind it.
 */
export function responseOn(socket: Socket, req: IncomingMessage): ServerResponse | undefined {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  try {
    res.assignSocket(socket);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_HTTP_SOCKET_ASSIGNED") throw error;
    socket.destroySoon();
    return undefined;
  }
  res.once("finish", () => linger(socket));
  return res;
}

/** Closes so that the answer arrives: a connection that is cut with bytes unread takes its last answer with it. */
function linger(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end();
  socket.resume();
}

/** A client that resets its connection is no error of ours; the stream ends and `close` cleans up. */
export function ignore(): void {}

/** Whether a body follows the head, which may be empty all the same. HTTP/2 need not say how long it is. */
export function hasBody(req: IncomingMessage): boolean {
  const { stream } = req as { readonly stream?: ServerHttp2Stream };
  if (stream !== undefined) return !stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** Node's limit on header lines where nobody sets one. */
const DEFAULT_LINES = 1000;

/**
 * Whether header lines may have been dropped without a word, groups and scopes among them: so do older Nodes beyond the
 * limit of a server that is not ours.
 */
export function mayBeShortened({ socket, rawHeaders }: IncomingMessage): boolean {
  const { server } = socket as { readonly server?: { readonly maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? DEFAULT_LINES;
  return limit > 0 && rawHeaders.length >= 2 * limit;
}

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
