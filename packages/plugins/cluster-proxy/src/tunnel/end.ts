import type { Http2Session } from "node:http2";
import type { Duplex } from "node:stream";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import { IdleTunnel } from "./idle.ts";
import { Streams } from "./streams.ts";
import { TunnelError } from "./tunnel-error.ts";
import { firstWindow, type WindowOptions } from "./windows.ts";

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

/** What an end does in its own way. */
export interface Role<S extends Http2Session> {
  /** HTTP/2 over the connection. @param window what a stream is granted at first, bytes */
  readonly begin: (window: number) => S;
  /** Told when the other end takes no more. */
  readonly drained?: () => void;
}

/** Whether a tunnel takes streams; `draining` if only those that are open go on. */
export type TunnelState = "open" | "draining" | "closed";

/** What Node's HTTP/2 may hold of a session, MB: windows limit it. */
export const SESSION_MEMORY = 2048;

/** What is the same at both ends: how a tunnel begins, the heartbeat, and how it ends. */
export class TunnelEnd<S extends Http2Session = Http2Session> {
  /** Resolves when the connection has ended, with what was wrong, if anything. */
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

  /** @throws Error on windows and intervals that cannot be used */
  constructor(socket: Duplex, options: TunnelEndOptions, role: Role<S>) {
    firstWindow(options.windows); // which says what is wrong with them
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    this.closed = promise;
    this.#resolve = resolve;
    this.#socket = socket;
    this.#options = options;
    this.#role = role;
    const answered = (roundTrip: number): void => this.#heartbeat.answered(roundTrip);
    this.#heartbeat = new Heartbeat(options.heartbeat ?? {}, {
      ping: () => (this.#streams ?? this.#idle).ping(answered),
      read: () => bytesOf(socket).read,
      dead: () => this.destroy(new TunnelError("closed", "the other end of the tunnel does not answer")),
    });
    this.#idle = new IdleTunnel(socket, {
      answered,
      begun: () => this.#begin(),
      drained: () => this.#drained(),
      failed: (error) => this.destroy(error),
    });
    // A connection that others end is no fault of the session's.
    socket.once("close", () => (this.#streams === undefined ? this.#ended() : this.#cut()));
    // Nor is one that the other end has left: a server's socket would stay half open.
    socket.once("end", () => this.#cut());
    if (socket.closed) this.#ended();
  }

  get state(): TunnelState {
    if ((this.#streams?.session ?? this.#socket).destroyed) return "closed";
    return this.draining ? "draining" : "open";
  }

  /** Whether one of the ends takes no more streams, or took no more before it ended. */
  get draining(): boolean {
    return this.#draining || this.#streams?.session.closed === true;
  }

  get stats(): TunnelStats {
    const { open: streams = 0, opened = 0 } = this.#streams ?? {};
    return { streams, opened, ...bytesOf(this.#socket), heartbeat: this.#heartbeat.last };
  }

  /** What goes over the tunnel; `undefined` as long as nothing was asked for. */
  get streams(): Streams<S> | undefined {
    return this.#streams;
  }

  /** Begins what goes over the tunnel. Resolves with it, or with what the tunnel has come to instead: nothing was done then. */
  begun(): Promise<Streams<S> | Exclude<TunnelState, "open">> {
    this.#wanted ??= Promise.withResolvers();
    this.#idle.begin();
    return this.#wanted.promise;
  }

  /** Takes no more streams, and ends the connection when those that are open, or asked for, have ended. Resolves when it has. */
  async drain(): Promise<void> {
    this.#draining = true;
    (this.#streams ?? this.#idle).drain();
    await this.closed;
  }

  /** Ends the connection at once, and what is under way with it. */
  destroy(reason?: Error): void {
    this.#reason ??= reason;
    this.#cut();
    this.#socket.destroy();
  }

  #begin(): void {
    const { windows } = this.#options;
    const session = this.#role.begin(firstWindow(windows));
    const streams = new Streams(session, windows);
    session.on("goaway", () => this.#drained());
    session.on("error", (error) => {
      this.#reason ??= error;
    });
    session.once("close", () => this.#ended());
    this.#streams = streams;
    this.#wanted?.resolve(streams);
    // Behind those that have waited for it.
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
    // Node gives a session what had come before it in the next tick, and throws there where it has ended by then.
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

/** What sockets know of themselves, and other streams do not. */
function bytesOf(socket: Duplex): { readonly read: number; readonly written: number } {
  const { bytesRead = 0, bytesWritten = 0 } = socket as { readonly bytesRead?: number; readonly bytesWritten?: number };
  return { read: bytesRead, written: bytesWritten };
}

// How an agent answers a CONNECT that it does not take. It says no more: what it says is not to be believed, nor shown.
/** It does not allow the target. */
export const REFUSED = 403;
/** It cannot have the target. */
export const UNREACHABLE = 502;
