import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { switched } from "../tunnel/switched.ts";
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

/** Says that it is a tunnel from now on, with lines of its own. `undefined`: the agent has left. */
export const connectionOf: Readonly<
  Record<"plain" | "framed", (asked: AskedWebSocket, lines: readonly string[]) => Promise<Duplex | undefined>>
> = {
  plain: (asked, lines) => switched(asked, { protocol: TUNNEL_PROTOCOL, lines }),
  framed: (asked, lines) => webSockets.accept(asked, [...lines]),
};
