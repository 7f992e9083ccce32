import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { createWebSocketStream, type WebSocket, WebSocketServer } from "ws";

/** Maximum length of a frame, bytes. An end of a tunnel never writes more at once. */
const LONGEST_FRAME = 16 * 1024 * 1024;
/** Options of both ends: most data is encrypted or compressed, so compression would only cost memory. */
export const WEBSOCKET: { readonly perMessageDeflate: false; readonly maxPayload: number } = {
  perMessageDeflate: false,
  maxPayload: LONGEST_FRAME,
};

/** Returns the bytes in the frames of a WebSocket as a connection for a tunnel. */
export function bytesOf(socket: WebSocket, below: Duplex): Duplex {
  const bytes = createWebSocketStream(socket, { allowHalfOpen: false });
  const counted = below as { readonly bytesRead?: number; readonly bytesWritten?: number };
  // The tunnel uses the byte counters to detect a live peer.
  return Object.defineProperties(bytes, {
    bytesRead: { get: () => counted.bytesRead ?? 0 },
    bytesWritten: { get: () => counted.bytesWritten ?? 0 },
  });
}

/** Upgrade request of a WebSocket. */
export interface WebSocketUpgrade {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Accepts WebSockets with one subprotocol. */
export class WebSockets {
  readonly #headers = new WeakMap<IncomingMessage, readonly string[]>();
  readonly #server: WebSocketServer;

  constructor(protocol: string) {
    this.#server = new WebSocketServer({
      ...WEBSOCKET,
      noServer: true,
      handleProtocols: (offered) => offered.has(protocol) && protocol,
    });
    this.#server.on("headers", (lines, req) => lines.push(...(this.#headers.get(req) ?? [])));
  }

  /** Accepts a request. @param headers further lines of the response @returns the bytes in it; `undefined` after a rejection */
  accept({ req, socket, head }: WebSocketUpgrade, headers: readonly string[]): Promise<Duplex | undefined> {
    this.#headers.set(req, headers);
    return new Promise((resolve) => {
      socket.once("close", () => resolve(undefined));
      this.#server.handleUpgrade(req, socket, head, (made) => resolve(bytesOf(made, socket)));
    });
  }
}
