import type { X509Certificate } from "node:crypto";
import type { EventEmitter } from "node:events";
import { IncomingMessage, type Server } from "node:http";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { LISTENER_LIMITS } from "./listener-limits.ts";

/** Interval of the check for idle connections and unread responses, ms. */
const SWEEP = 5_000;

/** `NGHTTP2_CANCEL`: importing it would load the module. */
const CANCEL = 8;

/** An open connection. */
interface Connection {
  /** Responses under way, in the order of their requests. */
  readonly answers: Set<Outlet>;
  /** Whether it has had a request. */
  asked: boolean;
  /** Start of the idle time, by the monotonic clock, ms. */
  idleSince: number;
  /** Idle timeout, ms. */
  patience: number;
  /** HTTP/2 session: after a close it ends by itself with the last response. */
  session: ServerHttp2Session | undefined;
}

/**
 * Open connections of a server with their responses under way, so that closing ends idle ones at once and others after their
 * last response. Node's own close cuts a response whose end is not yet sent. It ignores upgraded connections, TLS handshakes,
 * idle HTTP/2 sessions and clients that do not read a response.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Connections before TLS, by their peer: the later TLS socket is another object. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #gone = Promise.withResolvers<void>();
  #sweeping: NodeJS.Timeout | undefined;
  /** Complete responses that their clients had not read at the last check. */
  #unread = new Map<Outlet, Progress>();
  #closing = false;

  constructor(server: Server, { tls }: { readonly tls: boolean }) {
    if (tls) server.on("connection", (socket: Socket) => this.#greet(socket));
    server.on(tls ? "secureConnection" : "connection", (socket: Socket) => this.#opened(socket));
    // Node's `close` calls this.
    server.closeIdleConnections = () => this.#closeIdle();
  }

  /** Number of connections. */
  get size(): number {
    return this.#open.size + this.#handshakes.size;
  }

  /** Number of connections without a request so far, handshakes included. */
  get unasked(): number {
    let count = this.#handshakes.size;
    for (const { asked } of this.#open.values()) if (!asked) count += 1;
    return count;
  }

  /** Notes that `socket` carries HTTP/2. */
  carries(socket: Socket, session: ServerHttp2Session): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.session = session;
  }

  /** Notes a response under way on `socket` until `outlet` closes. @returns the number of those */
  answer(socket: Socket, outlet: Outlet): number {
    const connection = this.#open.get(socket);
    if (connection === undefined) return 0;
    connection.asked = true;
    connection.answers.add(outlet);
    // Not `once`, which makes two more objects for each request.
    outlet.on("close", () => {
      connection.answers.delete(outlet);
      this.#answered(socket, connection);
    });
    return connection.answers.size;
  }

  /** Resolves after closing has begun, when the last connection has closed and its listeners have run. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Tells HTTP/2 clients to reconnect; their requests are still answered. */
  closeSessions(): void {
    for (const { session } of this.#open.values()) session?.close();
  }

  /** Cuts the remaining connections. */
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
    const connection = { answers: new Set<Outlet>(), asked: false, idleSince: performance.now(), patience };
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
    const before = this.#unread;
    this.#unread = new Map();
    for (const [socket, connection] of this.#open) {
      const { session, answers, idleSince, patience } = connection;
      this.#cutStuck(socket, connection, { now, before });
      if (session === undefined || answers.size > 0 || now - idleSince <= patience) continue;
      // The client knows and has not left.
      if (session.closed) socket.destroy();
      else session.close();
    }
  }

  /** Ends responses that their client does not read: over HTTP/1.1, where responses wait for each other, the connection. */
  #cutStuck(socket: Socket, { session, answers }: Connection, { now, before }: Check): void {
    for (const outlet of answers) {
      if (outlet.writableEnded && !outlet.writableFinished) {
        const progress = before.get(outlet) ?? new Progress();
        this.#unread.set(outlet, progress);
        if (progress.isStuck(outlet, socket, now)) cut(outlet, session);
      }
      if (session === undefined) return;
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

function cut(outlet: Outlet, session: ServerHttp2Session | undefined): void {
  if (session === undefined) outlet.destroy();
  else (outlet as ServerHttp2Stream).close(CANCEL);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Time a client may leave a response unread, ms: as for a head. */
const PATIENCE = 32_000;
/** Lowest accepted speed of a client, bytes per ms. */
const SLOWEST = 16;
/** Bytes that may be sent before progress shows: they are in kernel buffers and on the way. */
const UNNOTICED = 2 * 1024 * 1024;

/** Target of a response: the response, an HTTP/2 stream, or an upgraded connection. */
interface Outlet extends EventEmitter {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  destroy(): unknown;
}

/** A check of all connections. */
interface Check {
  /** Monotonic time, ms. */
  readonly now: number;
  /** State of unread responses at the check before. */
  readonly before: ReadonlyMap<Outlet, Progress>;
}

/** How far a client has read a complete response. */
class Progress {
  /** Bytes left to write, and the time since they last changed. */
  #left = -1;
  #since = 0;

  /**
   * Whether the client reads nothing. It measures progress rather than time: a slow reader of a large response is not stuck. Data
   * written in one piece shows no progress until all of it is sent, so its time depends on its length.
   */
  isStuck({ writableLength: left }: Outlet, { bytesWritten }: Socket, now: number): boolean {
    if (left !== this.#left) {
      this.#left = left;
      this.#since = now;
    }
    return now - this.#since > PATIENCE + (left + Math.min(bytesWritten, UNNOTICED)) / SLOWEST;
  }
}

/** A request that knows its connection. */
export interface Carried {
  /** Connection; `undefined` where it is unknown. */
  readonly carrier: Socket | undefined;
}

/**
 * Returns the connection of a request, the same for all its requests: with TLS a `TLSSocket`. For authenticators that check a
 * certificate or an address once per connection: `request.socket` of HTTP/2 is a proxy object, another one for each request.
 * Do not write to it, close it, or wait for it: other requests share it.
 */
export function connectionOf(request: IncomingMessage): Socket {
  return (request as Partial<Carried>).carrier ?? request.socket;
}

/** Returns the client's certificate, whatever its issuer. */
export function clientCertificate(request: IncomingMessage): X509Certificate | undefined {
  const socket = connectionOf(request) as Partial<TLSSocket>;
  return socket.getPeerX509Certificate?.();
}

/** Values of each header, by name in lower case. */
export type DistinctHeaders = NodeJS.Dict<string[]>;

/**
 * A request over HTTP/1.1 whose `headersDistinct` follow `rawHeaders`, of which the server removes some: Node.js reads them by the
 * first number of lines, so that they would have to be made before.
 */
export class Http1Request extends IncomingMessage {
  #distinct: DistinctHeaders | undefined;

  static {
    // The types declare a property, which an accessor may not override.
    Object.defineProperty(Http1Request.prototype, "headersDistinct", {
      configurable: true,
      get(this: Http1Request) {
        this.#distinct ??= distinctOf(this.rawHeaders);
        return this.#distinct;
      },
      set(this: Http1Request, headers: DistinctHeaders) {
        this.#distinct = headers;
      },
    });
  }

  /** Whether `headersDistinct` have been read. */
  get isDistinct(): boolean {
    return this.#distinct !== undefined;
  }
}

/** Groups the lines of headers by name. */
export function distinctOf(lines: readonly string[]): DistinctHeaders {
  const found: DistinctHeaders = Object.create(null);
  for (let at = 0; at < lines.length; at += 2) {
    const name = (lines[at] as string).toLowerCase();
    const value = lines[at + 1] as string;
    const values = found[name];
    if (values === undefined) found[name] = [value];
    else values.push(value);
  }
  return found;
}
