// Cases that Node's HTTP servers leave to their user: malformed requests, expectations, offers of plain-text HTTP/2, bodies
// that are not read completely.

import type { EventEmitter } from "node:events";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import { respondStatus } from "../encode/respond.ts";

/** Time a rejected client gets to read the response before its connection is cut, ms: a busy client may stall for seconds. */
const LINGER = 5_000;

/** Errors without a client to answer: it has left, or has not completed its handshake. */
const UNTOLD: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "ERR_TLS_HANDSHAKE_TIMEOUT"]);

/** Rejects with a Status where Node would answer without a body, or close the connection. */
export function refuseMalformed(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // Data after a rejection is ignored: the connection lingers, and is cut soon.
    if (socket.writableEnded) return;
    if (UNTOLD.has(error.code) || !socket.writable) socket.destroy();
    else refuse(socket, problemOf(error.code));
  });
  server.on("connect", (_req: IncomingMessage, socket: Socket) => {
    socket.on("error", ignore);
    refuse(socket, problem(405, "CONNECT is not supported: this server is not a forward proxy"));
  });
  refuseExpectations(server);
}

/** Handles expectations, over HTTP/1.1 and HTTP/2. */
export function refuseExpectations(server: EventEmitter): void {
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    if (hasBody(req)) goOnWhenRead(req, res);
    else goOn(res);
    server.emit("request", req, res);
  });
  server.on("checkExpectation", (_req: IncomingMessage, res: ServerResponse) => {
    respondStatus(res, problem(417, "unsupported expectation: use 100-continue"));
  });
}

/**
 * Requests the body when a handler begins to read it. Until then a response closes the connection: whether the body or the
 * next request follows is unknown.
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

/** After a response under way, Node would write a 100 between the head and the body of the next response. */
function goOn(res: ServerResponse): void {
  const write = (): void => {
    if (!res.headersSent) res.writeContinue();
  };
  if (res.socket === null) res.once("socket", write);
  else write();
}

function problemOf(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW")
    return problem(431, "the header block is larger than 1 MiB: send fewer or shorter headers");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return problem(408, "the request's head did not arrive in time");
  return ApiError.badRequest("the request is not well-formed HTTP/1.1");
}

/** Makes an error with a code for which Kubernetes has no reason. */
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
 * Makes a response that closes the connection after it. `undefined` when an earlier response is under way: it goes out as far
 * as it is written, and then the connection closes.
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

/** Closes a connection so that the response arrives: one that is cut with unread bytes loses its last response. */
function linger(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end();
  socket.resume();
}

/** Ignores a client's reset of its connection; the stream ends and `close` cleans up. */
export function ignore(): void {}

/** Whether a body follows the head; it may be empty. HTTP/2 need not state its length. */
export function hasBody(req: IncomingMessage): boolean {
  const { stream } = req as { readonly stream?: ServerHttp2Stream };
  if (stream !== undefined) return !stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** Node's default limit of header lines. */
const DEFAULT_LINES = 1000;

/**
 * Whether header lines may have been dropped silently. Security: groups and scopes may be among them. Older Nodes do so
 * beyond the limit of a server that the framework has not created.
 */
export function mayBeShortened({ socket, rawHeaders }: IncomingMessage): boolean {
  const { server } = socket as { readonly server?: { readonly maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? DEFAULT_LINES;
  return limit > 0 && rawHeaders.length >= 2 * limit;
}

const HTTP_2 = /^\s*h2c\s*(?:,\s*h2c\s*)*$/i;

/** Whether an upgrade offers only plain-text HTTP/2: it is ignored, and the request is served without it (RFC 9110, 7.8). */
function offersHttp2Alone({ headers: { upgrade } }: IncomingMessage): boolean {
  return upgrade !== undefined && HTTP_2.test(upgrade);
}

/** First such request of each connection. */
const offers = new WeakMap<Socket, IncomingMessage>();

/**
 * Callback of Node's servers: whether an upgrade request is to be upgraded. Nodes before 24.9 do not call it: see
 * {@link isPlain}.
 */
export function shouldUpgradeCallback(req: IncomingMessage): boolean {
  if (!offersHttp2Alone(req)) return true;
  if (!offers.has(req.socket)) offers.set(req.socket, req);
  return false;
}

/**
 * Whether a request is to be served. One that offers HTTP/2 is the last of its connection: Node loses what follows in the
 * same packet, and would parse the rest as a request.
 */
export function isServed(req: IncomingMessage, res: ServerResponse): boolean {
  const offer = offers.get(req.socket);
  if (offer === undefined) return true;
  res.shouldKeepAlive = false;
  return offer === req;
}

/** Whether to serve a request that Node took for an upgrade: before 24.9, and in other servers. Its body is already lost. */
export function isPlain(req: IncomingMessage): boolean {
  return offersHttp2Alone(req) && !hasBody(req);
}

/**
 * Closes the connection after the response to a request whose body is not read completely, and announces that in the
 * response. Until then it discards the rest of the body for a moment: a connection that is cut with unread bytes loses its
 * last response.
 */
export function closeBehindAnswer(req: IncomingMessage, res: ServerResponse | undefined): void {
  if (req.complete || req.destroyed) return;
  const { stream } = req as { readonly stream?: ServerHttp2Stream };
  if (stream !== undefined) resetBehindAnswer(stream);
  else if (res === undefined) req.resume();
  else if (res.headersSent) discard(req);
  else {
    res.shouldKeepAlive = false;
    // Node calls this after such a response; it would cut the connection at once. Reading earlier would request a body that a
    // client holds back (`Expect: 100-continue`).
    req.socket.destroySoon = () => discard(req);
  }
}

/**
 * Time limit for the rest of a body after its response, ms: as for a head. The connection is then reused, which a slow client
 * could delay forever.
 */
const REST = 32_000;

/** Limits the time for the rest of a body when the response came first, for every request. */
export function boundRest(req: IncomingMessage, res: ServerResponse): void {
  if (!hasBody(req)) return;
  res.once("finish", () => {
    if (req.complete) return;
    const timer = setTimeout(() => {
      if (!req.complete) req.socket.destroy(); // over HTTP/2 only the stream
    }, REST).unref();
    req.once("close", () => clearTimeout(timer));
  });
}

/** HTTP/2 itself announces that the rest of a body is not needed, and other requests share the connection. */
function resetBehindAnswer(stream: ServerHttp2Stream): void {
  if (stream.writableFinished) stream.close();
  else stream.once("finish", () => stream.close());
}

function discard(req: IncomingMessage): void {
  req.resume();
  if (!req.socket.destroyed) linger(req.socket);
}
