import type { Http2Session } from "node:http2";
import type { Duplex } from "node:stream";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import { IdleTunnel } from "./idle.ts";
import { Streams } from "./streams.ts";
import { TunnelError } from "./tunnel-error.ts";
import { firstWindow, type WindowOptions } from "./windows.ts";

/** Options of both ends of a tunnel. */
export interface TunnelEndOptions {
  readonly windows?: WindowOptions;
  readonly heartbeat?: HeartbeatOptions;
}

/** Statistics of one end of a tunnel. */
export interface TunnelStats {
  /** Open streams. */
  readonly streams: number;
  /** Total number of opened streams. */
  readonly opened: number;
  /** Total bytes of the connection, if it counts them, as sockets do. */
  readonly read: number;
  readonly written: number;
  /** Time of the last response of the other end, by `performance.now()`, and its round-trip time, ms. `undefined` before the first. */
  readonly heartbeat: { readonly at: number; readonly roundTrip: number } | undefined;
}

/** Behavior that differs between the two ends. */
export interface Role<S extends Http2Session> {
  /** Creates the HTTP/2 session. @param window initial window of a stream, bytes */
  readonly begin: (window: number) => S;
  /** Called when the other end accepts no new streams. */
  readonly drained?: () => void;
  /** Returns the report for the next ping, 0 to 9. @default none */
  readonly report?: () => number | undefined;
  /** Called with the report in a ping of the other end. @default reports are not accepted */
  readonly reported?: (report: number) => void;
}

/** State of a tunnel; `draining` means that only open streams continue. */
export type TunnelState = "open" | "draining" | "closed";

/** Memory limit of a Node.js HTTP/2 session, MB. The windows are the effective limit. */
export const SESSION_MEMORY = 2048;

/** Common part of both ends: start, heartbeat and end of a tunnel. */
export class TunnelEnd<S extends Http2Session = Http2Session> {
  /** Resolves when the connection has ended, with the error if there was one. */
  readonly closed: Promise<Error | undefined>;
  readonly #socket: Duplex;
  readonly #options: TunnelEndOptions;
  readonly #role: Role<S>;
  readonly #heartbeat: Heartbeat;
  readonly #idle: IdleTunnel;
  readonly #resolve: (reason: Error | undefined) => void;
  #wanted: PromiseWithResolvers<Streams<S> | Exclude<TunnelState, "open">> | undefined;
  #streams: Streams<S> | undefined;
  #draining = false;
  #reason: Error | undefined;

  /** @throws Error on invalid windows and intervals */
  constructor(socket: Duplex, options: TunnelEndOptions, role: Role<S>) {
    firstWindow(options.windows); // Throws on invalid windows.
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    this.closed = promise;
    this.#resolve = resolve;
    this.#socket = socket;
    this.#options = options;
    this.#role = role;
    const answered = (roundTrip: number): void => this.#heartbeat.answered(roundTrip);
    this.#heartbeat = new Heartbeat(options.heartbeat ?? {}, {
      ping: () => {
        const report = role.report?.();
        if (this.#streams === undefined) this.#idle.ping(report);
        else this.#streams.ping(answered, report);
      },
      read: () => bytesOf(socket).read,
      dead: () => this.destroy(new TunnelError("closed", "the other end of the tunnel does not respond")),
    });
    this.#idle = new IdleTunnel(socket, {
      answered,
      reported: role.reported,
      begun: () => this.#begin(),
      drained: () => this.#drained(),
      failed: (error) => this.destroy(error),
    });
    // The session does not report a connection that was closed from outside.
    socket.once("close", () => (this.#streams === undefined ? this.#ended() : this.#cut()));
    // Nor an end by the other side: a server's socket would stay half open, and a session over TLS waits for writes that never complete.
    socket.once("end", () => this.destroy());
    if (socket.closed) this.#ended();
  }

  get state(): TunnelState {
    if ((this.#streams?.session ?? this.#socket).destroyed) return "closed";
    return this.draining ? "draining" : "open";
  }

  /** Whether one of the ends accepts no new streams, or did so before it ended. */
  get draining(): boolean {
    return this.#draining || this.#streams?.session.closed === true;
  }

  get stats(): TunnelStats {
    const { open: streams = 0, opened = 0 } = this.#streams ?? {};
    return { streams, opened, ...bytesOf(this.#socket), heartbeat: this.#heartbeat.last };
  }

  /** Streams of the tunnel; `undefined` before the first one. */
  get streams(): Streams<S> | undefined {
    return this.#streams;
  }

  /** Starts HTTP/2. Resolves with the streams, or with the state of the tunnel if it cannot; no request was then sent. */
  begun(): Promise<Streams<S> | Exclude<TunnelState, "open">> {
    this.#wanted ??= Promise.withResolvers();
    this.#idle.begin();
    return this.#wanted.promise;
  }

  /** Accepts no new streams, and closes the connection when open and requested ones have ended. Resolves then. */
  async drain(): Promise<void> {
    this.#draining = true;
    (this.#streams ?? this.#idle).drain();
    await this.closed;
  }

  /** Closes the connection at once with all its streams. */
  destroy(reason?: Error): void {
    this.#reason ??= reason;
    this.#cut();
    this.#socket.destroy();
  }

  #begin(): void {
    const { windows } = this.#options;
    const session = this.#role.begin(firstWindow(windows));
    const streams = new Streams(session, windows);
    if (this.#role.reported !== undefined) streams.onReport(this.#role.reported);
    session.on("goaway", () => this.#drained());
    session.on("error", (error) => {
      this.#reason ??= error;
    });
    session.once("close", () => this.#ended());
    this.#streams = streams;
    this.#wanted?.resolve(streams);
    // After the streams that have waited for it.
    if (this.#draining) setImmediate(() => streams.drain());
  }

  #drained(): void {
    this.#draining = true;
    this.#wanted?.resolve("draining");
    this.#role.drained?.();
  }

  #cut(): void {
    if (this.#streams === undefined) {
      this.#socket.destroy();
      return;
    }
    // Node.js passes earlier bytes to a session in the next tick, and throws if the session has ended by then.
    while (this.#socket.read() !== null);
    this.#streams.session.destroy();
  }

  #ended(): void {
    this.#heartbeat[Symbol.dispose]();
    this.#socket.destroy();
    this.#wanted?.resolve("closed");
    this.#resolve(this.#reason);
  }
}

/** Returns the byte counters of sockets; other streams have none. */
function bytesOf(socket: Duplex): { readonly read: number; readonly written: number } {
  const { bytesRead = 0, bytesWritten = 0 } = socket as { readonly bytesRead?: number; readonly bytesWritten?: number };
  return { read: bytesRead, written: bytesWritten };
}

// Responses of an agent to a rejected CONNECT. Security: they have no body, since a hub must not trust or show it.
/** The agent does not allow the target. */
export const REFUSED = 403;
/** The agent cannot connect to the target. */
export const UNREACHABLE = 502;
