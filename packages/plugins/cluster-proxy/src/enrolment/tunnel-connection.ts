import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type AskedWebSocket, WebSockets } from "../tunnel/websocket.ts";
import { TUNNEL_PROTOCOL } from "./wire.ts";

/** How it is asked for. @throws ApiError 400 */
export function wayOf({ headers }: IncomingMessage): "plain" | "framed" {
  const { upgrade = "" } = headers;
  if (upgrade === TUNNEL_PROTOCOL) return "plain";
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  if (upgrade.toLowerCase() === "websocket" && offered.includes(TUNNEL_PROTOCOL)) return "framed";
  throw ApiError.badRequest(
    `Upgrade: ask for ${TUNNEL_PROTOCOL}, or a WebSocket of it, as an agent of this version does`,
  );
}

const webSockets = new WebSockets(TUNNEL_PROTOCOL);

/** Says that it is a tunnel from now on, with a line of its own. `undefined`: the agent has left. */
export const connectionOf: Readonly<
  Record<"plain" | "framed", (asked: AskedWebSocket, line: string) => Promise<Duplex | undefined>>
> = {
  plain: async ({ socket, head }, line) => {
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", `Upgrade: ${TUNNEL_PROTOCOL}`, line];
    // Node's HTTP/2 takes over what is below the stream, and ends the process where a write is under way there.
    await written(socket, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
    if (head.length > 0) socket.unshift(head);
    return socket;
  },
  framed: (asked, line) => webSockets.accept(asked, [line]),
};

/** Resolves when it has been handed to the machine, or never will be. */
function written(socket: Duplex, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}
