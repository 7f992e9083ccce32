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
export function linger(socket: Socket): void {
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
