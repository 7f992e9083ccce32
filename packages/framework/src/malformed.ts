import { IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import { respondStatus } from "./encode/respond.ts";

/** Refuses with a Status what Node would answer without a body, or by closing the connection. */
export function refuseMalformed(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuse(socket, problemOf(error.code));
  });
  server.on("connect", (_req: IncomingMessage, socket: Socket) => {
    refuse(socket, problem(405, "this is no proxy: CONNECT is not served"));
  });
  server.on("checkExpectation", (_req: IncomingMessage, res: ServerResponse) => {
    respondStatus(res, problem(417, "the only expectation that can be met is 100-continue"));
  });
}

function problemOf(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") return problem(431, "the header block is larger than 1 MiB");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return problem(408, "the request's head did not arrive in time");
  return ApiError.badRequest("the request is not well-formed HTTP/1.1");
}

/** Codes for which Kubernetes has no reason. */
function problem(code: number, message: string): ApiError {
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
  return new ApiError(status);
}

/** Answers on a connection for which Node has made no response, and closes it. */
function refuse(socket: Socket, error: ApiError): void {
  const res = responseOn(socket, new IncomingMessage(socket));
  respondStatus(res, error);
}

/** A response of our own, which closes the connection behind it. */
export function responseOn(socket: Socket, req: IncomingMessage): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once("finish", () => socket.end());
  return res;
}
