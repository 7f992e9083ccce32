import type { Http2Session, Http2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import { TunnelError } from "./tunnel-error.ts";
import { type WindowOptions, Windows } from "./windows.ts";

/** What both ends of a tunnel can be told. */
export interface TunnelEndOptions {
  readonly windows?: WindowOptions;
  readonly heartbeat?: HeartbeatOptions;
}

/** What a tunnel is doing, of one end. */
export interface TunnelStats {
  /** Streams that are open. */
  readonly streams: number;
  /** Streams that were opened since the beginning. */
  readonly opened: number;
  /** Bytes of the connection since the beginning, as far as it counts them (sockets do). */
  readonly read: number;
  readonly written: number;
  /** When the other end last answered, as of `performance.now()`, and how long that took, ms. `undefined` before it first did. */
  readonly heartbeat: { readonly at: number; readonly roundTrip: number } | undefined;
}

/** What Node's HTTP/2 may hold of a session, MB: windows limit it. */
export const SESSION_MEMORY = 2048;

/** What is the same at both ends: windows, the heartbeat, and how a tunnel ends. */
export class TunnelEnd<S extends Http2Session = Http2Session> {
  readonly session: S;
  readonly windows: Windows;
  /** Resolves when the connection has ended, with what was wrong, if anything. */
  readonly closed: Promise<Error | undefined>;
  readonly #socket: Duplex;
  readonly #heartbeat: Heartbeat;
  readonly #streams = new Set<Http2Stream>();
  #opened = 0;
  #reason: Error | undefined;

  /** @throws Error on windows and intervals that cannot be used */
  constructor(session: S, socket: Duplex, options: TunnelEndOptions) {
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    this.session = session;
    this.#socket = socket;
    this.closed = promise;
    this.windows = new Windows(session, options.windows);
    this.#heartbeat = new Heartbeat(session, options.heartbeat ?? {}, {
      read: () => bytesOf(socket).read,
      dead: () => this.destroy(new TunnelError("closed", "the other end of the tunnel does not answer")),
    });
    session.on("error", (error) => {
      this.#reason ??= error;
    });
    session.once("close", () => {
      this.#heartbeat[Symbol.dispose]();
      socket.destroy();
      resolve(this.#reason);
    });
    // A connection that others end is no fault of the session's.
    socket.once("close", () => this.#cut());
    // Nor is one that the other end has left: a server's socket would stay half open.
    socket.once("end", () => this.#cut());
  }

  get stats(): TunnelStats {
    const { read, written } = bytesOf(this.#socket);
    return { streams: this.#streams.size, opened: this.#opened, read, written, heartbeat: this.#heartbeat.last };
  }

  /** A stream that counts, from now until it is closed. */
  count(stream: Http2Stream): void {
    this.#opened += 1;
    this.#streams.add(stream);
    stream.once("close", () => {
      this.#streams.delete(stream);
      this.windows.closed();
    });
  }

  /** Takes no more streams, and ends the connection when those that are open have ended. Resolves when it has. */
  async drain(): Promise<void> {
    if (!this.session.closed && !this.session.destroyed) this.session.close();
    await this.closed;
  }

  /** Ends the connection at once, and what is under way with it. */
  destroy(reason?: Error): void {
    this.#reason ??= reason;
    this.#cut();
    this.#socket.destroy();
  }

  /** Node gives a session what had come before it in the next tick, and throws there where it has ended by then. */
  #cut(): void {
    while (this.#socket.read() !== null);
    this.session.destroy();
  }
}

/** What sockets know of themselves, and other streams do not. */
function bytesOf(socket: Duplex): { readonly read: number; readonly written: number } {
  const { bytesRead = 0, bytesWritten = 0 } = socket as { readonly bytesRead?: number; readonly bytesWritten?: number };
  return { read: bytesRead, written: bytesWritten };
}
