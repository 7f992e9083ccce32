import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { createWebSocketStream, type WebSocket, WebSocketServer } from "ws";

/** Frames are as long as what one end of a tunnel writes at once; longer ones are nobody's of ours, bytes. */
const LONGEST_FRAME = 16 * 1024 * 1024;
/** What both ends say: what passes is mostly encrypted or compressed, and never worth the memory. */
export const WEBSOCKET: { readonly perMessageDeflate: false; readonly maxPayload: number } = {
  perMessageDeflate: false,
  maxPayload: LONGEST_FRAME,
};

/** The bytes in the frames of a WebSocket: a connection for a tunnel where nothing else passes. */
export function bytesOf(socket: WebSocket, below: Duplex): Duplex {
  const bytes = createWebSocketStream(socket, { allowHalfOpen: false });
  const counted = below as { readonly bytesRead?: number; readonly bytesWritten?: number };
  // By what has come a tunnel knows that its other end is there.
  return Object.defineProperties(bytes, {
    bytesRead: { get: () => counted.bytesRead ?? 0 },
    bytesWritten: { get: () => counted.bytesWritten ?? 0 },
  });
}

/** What a server has of a request for a WebSocket. */
export interface WebSocketUpgrade {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Takes requests for WebSockets of one protocol. */
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

  /** Answers one. @param headers lines of the answer besides @returns the bytes in it; `undefined`: it was none, and has been told so */
  accept({ req, socket, head }: WebSocketUpgrade, headers: readonly string[]): Promise<Duplex | undefined> {
    this.#headers.set(req, headers);
    return new Promise((resolve) => {
      socket.once("close", () => resolve(undefined));
      this.#server.handleUpgrade(req, socket, head, (made) => resolve(bytesOf(made, socket)));
    });
  }
}
