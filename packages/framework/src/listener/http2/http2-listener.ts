import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import { respondStatus } from "../../encode/respond.ts";
import type { Carried, Connections } from "../connections.ts";
import { HTTP2_LIMITS } from "../listener-limits.ts";
import { problem, refuseExpectations } from "../malformed.ts";
import { Http2Request, Http2Response } from "./http2-request.ts";

/** Serves a connection once its protocol is known. */
type Take = (this: HttpServer, socket: TLSSocket) => void;

/**
 * Serves connections of an HTTPS listener that chose HTTP/2 in their handshake, with the same handlers; the others are
 * unaffected.
 */
export function serveHttp2(
  https: HttpServer,
  connections: Connections,
  onRequest: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  const sessions = createHttp2Server({
    ...HTTP2_LIMITS,
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response as never,
  });
  // Every stream, including those answered without a request event.
  sessions.on("stream", (stream: ServerHttp2Stream) => {
    // A stream that was reset at once no longer has a session.
    const carrier = (stream.session as Partial<Carried> | undefined)?.carrier;
    if (carrier !== undefined) connections.answer(carrier, stream);
  });
  // The type that all request handlers use.
  sessions.on("request", onRequest as never);
  sessions.on("connect", (_req: Http2Request, res: Http2Response) =>
    respondStatus(res as never, problem(405, "CONNECT is not supported: this server is not a forward proxy")),
  );
  refuseExpectations(sessions);
  let arriving: TLSSocket | undefined;
  sessions.on("session", (session: ServerHttp2Session) => {
    Object.assign(session, { carrier: arriving } satisfies Carried);
    if (arriving !== undefined) connections.carries(arriving, session);
  });
  const [http1] = https.listeners("secureConnection") as Take[];
  if (http1 === undefined) throw new Error("Node's HTTPS server has no connection listener");
  https.off("secureConnection", http1);
  https.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol !== "h2") return http1.call(https, socket);
    if (socket.destroyed) return; // the server closes
    arriving = socket;
    sessions.emit("connection", socket); // makes its session at once
  });
}
