import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { WebSocket, WebSocketServer } from "ws";
import type { EventFormat } from "../encode/event-format.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { Chunk, EventStream } from "./event-stream.ts";

/** Maximum length of a client's message, in bytes: a watch expects none and ignores them. */
const LONGEST_MESSAGE = 4096;
/** Time a client gets to read what is left and to answer a close frame, ms. */
const CLOSE_TIMEOUT = 10_000;
/** Time between two pings, ms. A client that has not answered the last one is cut. */
const PING_EVERY = 30_000;
/** Bytes collected before a write of initial events. */
const BATCH = 64 * 1024;
const OPTIONS = { noServer: true, perMessageDeflate: false, maxPayload: LONGEST_MESSAGE, closeTimeout: CLOSE_TIMEOUT };
/** `readyState` of an open WebSocket. */
const OPEN = 1;

/** Close codes of RFC 6455, 7.4.1. */
const CLOSE = { normal: 1000, goingAway: 1001, policyViolation: 1008, internalError: 1011 } as const;

/** Makes the frame of one message. */
type Frame = (message: Buffer) => readonly Buffer[];

/** Export of `ws` that its types lack. */
interface Framing {
  readonly Sender: { frame(message: Buffer, options: object): readonly Buffer[] };
}

/** One frame for each message. The server's frames are not masked, so that many clients get the same bytes. */
const FRAME = { fin: true, rsv1: false, mask: false, readOnly: true } as const;
/** Opcodes of messages (RFC 6455, 5.2). */
const OPCODE = { text: 1, binary: 2 } as const;

interface Acceptor {
  readonly server: WebSocketServer;
  readonly text: Frame;
  readonly binary: Frame;
}

/** Upgrade request for a watch. */
export interface WatchUpgrade {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Further header lines of the response. */
  readonly lines: readonly string[];
  /** Frames of the events. */
  readonly events: EventFormat;
}

/** Returns whether a request asks for a WebSocket. */
export function isWebSocket({ headers: { upgrade } }: Pick<IncomingMessage, "headers">): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

/** Returns whether a request is a watch of objects over a WebSocket. A subresource below `/watch/` may be a tunnel. */
export function isWatchSocket(req: IncomingMessage, { isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && verb === "watch" && subresource === "" && isWebSocket(req);
}

/**
 * Watches over WebSockets, as kube-apiserver serves them: one message for each event, of text or, in CBOR, of bytes. The module
 * `ws` is loaded with the first one.
 */
export class WatchSockets implements Disposable {
  readonly #leaving: () => boolean;
  readonly #lines = new WeakMap<IncomingMessage, readonly string[]>();
  /** WebSockets that have not answered the last ping. */
  readonly #silent = new WeakSet<WebSocket>();
  #acceptor: Acceptor | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #disposed = false;

  /** @param leaving whether the server is about to stop: the close code says so */
  constructor(leaving: () => boolean) {
    this.#leaving = leaving;
  }

  /** Loads `ws`, which {@link accept} needs. */
  async prepare(): Promise<void> {
    if (this.#acceptor !== undefined) return;
    const { WebSocketServer, Sender } = (await import("ws")) as typeof import("ws") & Framing;
    if (this.#acceptor !== undefined) return;
    const server = new WebSocketServer(OPTIONS);
    server.on("headers", (lines, req) => lines.push(...(this.#lines.get(req) ?? [])));
    // The listener keeps `ws` from answering: the caller answers with a Status.
    server.on("wsClientError", (error) => {
      throw ApiError.badRequest(`invalid WebSocket handshake: ${error.message}: use version 13 of RFC 6455`);
    });
    const frame =
      (opcode: number): Frame =>
      (message) =>
        Sender.frame(message, { ...FRAME, opcode });
    this.#acceptor = { server, text: frame(OPCODE.text), binary: frame(OPCODE.binary) };
    if (!this.#disposed) this.#pinging = setInterval(() => this.#ping(server), PING_EVERY).unref();
  }

  /**
   * Writes the 101 response. The first subprotocol that the client offers is accepted, as browsers demand one of them.
   *
   * @throws ApiError 400 on an invalid handshake, when nothing has been written
   */
  accept({ req, socket, head, lines, events }: WatchUpgrade): EventStream {
    if (this.#acceptor === undefined) throw new Error("WebSockets are not prepared");
    const { server, text, binary } = this.#acceptor;
    const frame = events.isText ? text : binary;
    this.#lines.set(req, lines);
    let stream: EventStream | undefined;
    server.handleUpgrade(req, socket, head, (client) => {
      // Errors are followed by the connection's end.
      client.on("error", () => undefined);
      client.on("pong", () => this.#silent.delete(client));
      stream = new WebSocketStream({ client, socket, frame, events, leaving: this.#leaving });
    });
    if (stream === undefined) throw new Error("the client disconnected");
    return stream;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    clearInterval(this.#pinging);
    for (const client of this.#acceptor?.server.clients ?? []) client.terminate();
  }

  #ping({ clients }: WebSocketServer): void {
    for (const client of clients) {
      if (client.readyState !== OPEN) continue;
      if (this.#silent.has(client)) {
        client.terminate();
        continue;
      }
      // A client that still has events to read would answer late.
      if (client.bufferedAmount > 0) continue;
      this.#silent.add(client);
      client.ping();
    }
  }
}

interface OpenSocket {
  readonly client: WebSocket;
  /** Connection below the WebSocket. */
  readonly socket: Duplex;
  readonly frame: Frame;
  readonly events: EventFormat;
  readonly leaving: () => boolean;
}

/** Open WebSocket. Each write ends with a frame, since `ws` writes pongs and close frames in between. */
class WebSocketStream implements EventStream {
  readonly #open: OpenSocket;

  constructor(open: OpenSocket) {
    this.#open = open;
  }

  get over(): boolean {
    return this.#open.client.readyState !== OPEN || this.destroyed;
  }

  get destroyed(): boolean {
    return this.#open.socket.destroyed;
  }

  write(chunk: Chunk): boolean {
    // The client has sent its close frame: nothing may follow.
    return this.over || this.#open.socket.write(chunk.messages(this.#open.frame));
  }

  onceDrained(listener: () => void): void {
    this.#open.socket.once("drain", listener);
  }

  async writeAll(events: Iterable<readonly Buffer[]>): Promise<void> {
    const { frame } = this.#open;
    let frames: Buffer[] = [];
    let length = 0;
    for (const pieces of events) {
      const framed = frame(Buffer.concat(pieces));
      frames.push(...framed);
      length += framed.reduce((sum, one) => sum + one.length, 0);
      if (length < BATCH) continue;
      await this.#flush(frames);
      frames = [];
      length = 0;
    }
    if (length > 0) await this.#flush(frames);
  }

  end(error?: ApiError): void {
    if (this.over) return;
    const { client, socket, frame, events, leaving } = this.#open;
    if (error !== undefined) socket.write(Buffer.concat(frame(events.error(error))));
    client.close(error === undefined ? (leaving() ? CLOSE.goingAway : CLOSE.normal) : closeCode(error));
  }

  destroy(): void {
    this.#open.client.terminate();
  }

  onceClosed(listener: () => void): void {
    if (this.destroyed) setImmediate(listener);
    else this.#open.socket.once("close", listener);
  }

  async #flush(frames: readonly Buffer[]): Promise<void> {
    const { socket } = this.#open;
    if (!this.over && !socket.write(Buffer.concat(frames))) await drained(socket);
    if (this.over) throw new Error("the client has disconnected");
  }
}

/** Resolves when a connection takes more bytes, or has closed. */
function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Returns the close code after an ERROR event. An expired version is a regular end, as at kube-apiserver: the client lists again. */
function closeCode({ code }: ApiError): number {
  if (code === 401 || code === 403) return CLOSE.policyViolation;
  return code < 500 ? CLOSE.normal : CLOSE.internalError;
}
