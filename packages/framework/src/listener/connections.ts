import type { X509Certificate } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { LISTENER_LIMITS } from "./listener-limits.ts";

/** How often connections are looked at that might have been idle, or have taken nothing of an answer, for too long, ms. */
const SWEEP = 5_000;

/** `NGHTTP2_CANCEL`: the module would have to be loaded for it. */
const CANCEL = 8;

/** One that is open. */
interface Connection {
  /** Under way, in the order of their requests. */
  readonly answers: Set<Outgoing>;
  /** Whether anything was ever asked on it. */
  asked: boolean;
  /** Since when there are none, by the monotonic clock, ms. */
  idleSince: number;
  /** How long there may be none, ms. */
  patience: number;
  /** Of HTTP/2: what ends by itself behind the last answer once it has been told to. */
  session: ServerHttp2Session | undefined;
}

/**
 * The connections of a server, and how many answers are under way on each, so that closing takes the idle ones at once
 * and the others behind their last answer. Node's own way cuts an answer whose end is written but not yet sent, and
 * knows neither upgraded connections nor TLS handshakes, nor when a session of HTTP/2 has been idle for too long, or the
 * client of an answer has not taken it.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Connections that are not yet TLS, by their peer: the socket they become is another object. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #gone = Promise.withResolvers<void>();
  #sweeping: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(server: Server, { tls }: { readonly tls: boolean }) {
    if (tls) server.on("connection", (socket: Socket) => this.#greet(socket));
    server.on(tls ? "secureConnection" : "connection", (socket: Socket) => this.#opened(socket));
    // What `close` calls.
    server.closeIdleConnections = () => this.#closeIdle();
  }

  /** How many there are. */
  get size(): number {
    return this.#open.size + this.#handshakes.size;
  }

  /** How many there are on which nothing was ever asked, handshakes among them. */
  get unasked(): number {
    let count = this.#handshakes.size;
    for (const { asked } of this.#open.values()) if (!asked) count += 1;
    return count;
  }

  /** `socket` carries HTTP/2. */
  carries(socket: Socket, session: ServerHttp2Session): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.session = session;
  }

  /** An answer is under way on `socket` until `outlet` closes. @returns how many are */
  answer(socket: Socket, outlet: Outlet): number {
    const connection = this.#open.get(socket);
    if (connection === undefined) return 0;
    connection.asked = true;
    const answer = new Outgoing(outlet);
    connection.answers.add(answer);
    outlet.once("close", () => {
      connection.answers.delete(answer);
      this.#answered(socket, connection);
    });
    return connection.answers.size;
  }

  /** Resolves when, after closing has begun, the last connection has closed and whoever listens to that has heard. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Tells HTTP/2 clients to come again; what they have asked for is still answered. */
  closeSessions(): void {
    for (const { session } of this.#open.values()) session?.close();
  }

  /** Cuts whatever is left. */
  cut(): void {
    for (const { session } of this.#open.values()) session?.destroy();
    for (const socket of [...this.#open.keys(), ...this.#handshakes.values()]) socket.destroy();
  }

  #greet(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once("close", () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
      this.#closed();
    });
  }

  #opened(socket: Socket): void {
    this.#handshakes.delete(peerOf(socket));
    const { headersTimeout: patience = 0 } = LISTENER_LIMITS;
    const connection = { answers: new Set<Outgoing>(), asked: false, idleSince: performance.now(), patience };
    this.#open.set(socket, { ...connection, session: undefined });
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#closed();
    });
    if (this.#closing) socket.destroy();
    else this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP).unref();
  }

  #answered(socket: Socket, connection: Connection): void {
    if (connection.answers.size > 0) return;
    connection.idleSince = performance.now();
    connection.patience = LISTENER_LIMITS.keepAliveTimeout ?? 0;
    if (this.#closing && connection.session === undefined && this.#open.has(socket)) socket.destroySoon();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [socket, connection] of this.#open) {
      const { session, answers, idleSince, patience } = connection;
      cutStuck(socket, connection, now);
      if (session === undefined || answers.size > 0 || now - idleSince <= patience) continue;
      // Who has been told, and is still there, takes not even that.
      if (session.closed) socket.destroy();
      else session.close();
    }
  }

  #closeIdle(): void {
    this.#closing = true;
    clearInterval(this.#sweeping);
    this.closeSessions();
    for (const [socket, { answers, session }] of this.#open)
      if (answers.size === 0 && session === undefined) socket.destroySoon();
    for (const socket of this.#handshakes.values()) socket.destroy();
    this.#closed();
  }

  #closed(): void {
    if (this.#closing && this.size === 0) this.#gone.resolve();
  }
}

/** Ends what its client does not take: over HTTP/1.1, where answers wait for each other, the connection. */
function cutStuck(socket: Socket, { session, answers }: Connection, now: number): void {
  for (const answer of answers) {
    if (answer.isStuck(now, socket)) cut(answer.outlet, session);
    if (session === undefined) return;
  }
}

function cut(outlet: Outlet, session: ServerHttp2Session | undefined): void {
  if (session === undefined) outlet.destroy();
  else (outlet as ServerHttp2Stream).close(CANCEL);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** How long a client may take nothing of an answer, ms: as long as a head may take to come. */
const PATIENCE = 32_000;
/** The slowest client that is waited for, bytes in a millisecond. */
const SLOWEST = 16;
/** What may be taken of all that was sent before we notice: it lies in the kernels and on the way. */
const UNNOTICED = 2 * 1024 * 1024;

/** What an answer is written to: a response, a stream of HTTP/2, or the connection of an upgrade. */
interface Outlet extends EventEmitter {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  destroy(): unknown;
}

/** An answer under way. */
class Outgoing {
  readonly outlet: Outlet;
  /** What was still to be written of it, bytes, and since when it has been as much. */
  #left = -1;
  #since = 0;

  constructor(outlet: Outlet) {
    this.outlet = outlet;
  }

  /**
   * Whether it is whole, and its client takes nothing of it. Asked now and then, at `now` by the monotonic clock, ms. By
   * progress and not by time: a slow reader of much is none that holds on to it. What was handed over in one piece makes
   * none until it is all gone, and so has its time by its length.
   */
  isStuck(now: number, { bytesWritten }: Socket): boolean {
    const { writableEnded, writableFinished, writableLength: left } = this.outlet;
    if (!writableEnded || writableFinished) return false;
    if (left !== this.#left) {
      this.#left = left;
      this.#since = now;
    }
    return now - this.#since > PATIENCE + (left + Math.min(bytesWritten, UNNOTICED)) / SLOWEST;
  }
}

/** What knows its connection by itself. */
export interface Carried {
  /** Undefined where it is not known. */
  readonly carrier: Socket | undefined;
}

/**
 * The connection that a request came on, the same for all its requests: with TLS a `TLSSocket`. For authenticators that
 * look at a certificate or an address once for a connection: `request.socket` of HTTP/2 only stands for it, another one
 * for each request. Never to be written to, closed, or waited for: it is others' too.
 */
export function connectionOf(request: IncomingMessage): Socket {
  return (request as Partial<Carried>).carrier ?? request.socket;
}

/** What the client has shown, whoever has signed it. */
export function clientCertificate(request: IncomingMessage): X509Certificate | undefined {
  const socket = connectionOf(request) as Partial<TLSSocket>;
  return socket.getPeerX509Certificate?.();
}
