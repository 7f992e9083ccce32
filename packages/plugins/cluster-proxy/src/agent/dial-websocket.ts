import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import { errorOf } from "@virtual-workspaces/client/http";
import { type ResponseHeaders, type StreamedResponse, trusted } from "@virtual-workspaces/transport";
import { WebSocket } from "ws";
import { bytesOf, WEBSOCKET } from "../tunnel/websocket.ts";
import type { AgentOptions } from "./options.ts";

/** Time limit of the handshake, ms. */
const PATIENCE = 10_000;

/** Request of a WebSocket. */
export interface WebSocketRequest {
  readonly hub: AgentOptions["hub"];
  readonly path: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A connection, or the response without an upgrade. */
export type UpgradeAnswer =
  | { readonly socket: Duplex; readonly headers: ResponseHeaders }
  | { readonly error: ApiError; readonly headers: ResponseHeaders };

/** Converts a response for the transport package. */
function streamed(answer: IncomingMessage): StreamedResponse {
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: answer,
    [Symbol.asyncDispose]: async () => void answer.destroy(),
  };
}

/** Opens a WebSocket. @throws Error without a response */
export async function dialWebSocket(request: WebSocketRequest): Promise<UpgradeAnswer> {
  const { hub, path, protocol, headers, signal } = request;
  const { ca, serverName, insecureSkipVerify } = hub.tls ?? {};
  const asked = new WebSocket(`${hub.url.replace(/^http/, "ws")}${path}`, [protocol], {
    ...WEBSOCKET,
    headers,
    handshakeTimeout: PATIENCE,
    ...trusted(ca),
    ...(serverName !== undefined && { servername: serverName }),
    rejectUnauthorized: insecureSkipVerify !== true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<UpgradeAnswer>();
  const aborted = (): void => {
    reject(signal.reason);
    asked.terminate();
  };
  signal.addEventListener("abort", aborted, { once: true });
  asked.on("error", reject);
  asked.on("unexpected-response", (_, answer) => {
    const told = (error: ApiError): void => resolve({ error, headers: answer.headers });
    errorOf(streamed(answer), "the hub")
      .then(told, reject)
      .finally(() => asked.terminate());
  });
  asked.on("upgrade", ({ headers: told, socket }) => {
    asked.once("open", () => resolve({ socket: bytesOf(asked, socket), headers: told }));
  });
  try {
    if (signal.aborted) aborted();
    return await promise;
  } finally {
    signal.removeEventListener("abort", aborted);
  }
}
