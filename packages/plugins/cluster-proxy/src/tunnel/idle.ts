// Why: an HTTP/2 session costs 25 KiB, and most tunnels are idle most of the time. Before the first stream, each end sends single bytes.
// ASK is answered by ANSWER; a digit in place of ASK is the agent's report, see AgentEndOptions. HTTP/2 starts once both ends have sent BEGIN. Nothing follows DRAIN.
import type { Duplex } from "node:stream";
import { TunnelError } from "./tunnel-error.ts";

const ASK = "?";
const ANSWER = "!";
const BEGIN = ">";
const DRAIN = ".";
const REPORT = /^\d$/;

/** Callbacks of an {@link IdleTunnel}. */
export interface IdleEvents {
  /** Called with the answer to a ping. @param roundTrip ms */
  readonly answered: (roundTrip: number) => void;
  /** Called with the report in a ping. @default reports violate the protocol */
  readonly reported?: ((report: number) => void) | undefined;
  /** Called when the connection becomes that of HTTP/2. */
  readonly begun: () => void;
  /** Called when the other end drains the tunnel; the connection ends. */
  readonly drained: () => void;
  /** Called when the connection is unusable. */
  readonly failed: (error: Error) => void;
}

/** Tunnel before its first stream. */
export class IdleTunnel {
  readonly #socket: Duplex;
  readonly #events: IdleEvents;
  /** Time of the unanswered ping, if any. */
  #asked: number | undefined;
  #answering = false;
  /** Last message of this end. */
  #last: typeof BEGIN | typeof DRAIN | undefined;
  #begins = false;
  #otherBegins = false;

  constructor(socket: Duplex, events: IdleEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("readable", this.#read).on("error", events.failed);
  }

  /** Sends a ping unless one is unanswered. @param report digit, in place of none */
  ping(report?: number): void {
    if (this.#last !== undefined || this.#asked !== undefined) return;
    this.#asked = performance.now();
    this.#socket.write(report === undefined ? ASK : String(report));
  }

  /** Requests HTTP/2. */
  begin(): void {
    if (this.#last !== undefined) return;
    this.#last = BEGIN;
    this.#socket.write(BEGIN, (error) => {
      this.#begins = !error;
      this.#handOver();
    });
  }

  /** Accepts no streams and closes the connection, unless HTTP/2 is about to start. */
  drain(): void {
    if (this.#last !== undefined) return;
    this.#last = DRAIN;
    this.#socket.end(DRAIN);
  }

  readonly #read = (): void => {
    while (!this.#otherBegins && !this.#socket.destroyed) {
      const word: Buffer | null = this.#socket.read(1);
      if (word === null) return;
      this.#hear(word.toString("latin1"));
    }
  };

  readonly #hasAnswered = (): void => {
    this.#answering = false;
  };

  #hear(word: string): void {
    if (word === ASK && !this.#answering) this.#answer();
    else if (REPORT.test(word) && this.#events.reported !== undefined && !this.#answering) {
      this.#events.reported(Number(word));
      this.#answer();
    } else if (word === ANSWER && this.#asked !== undefined) {
      this.#events.answered(performance.now() - this.#asked);
      this.#asked = undefined;
    } else if (word === BEGIN) this.#join();
    else if (word === DRAIN) this.#leave();
    else this.#events.failed(new TunnelError("closed", "the other end of the tunnel violates the protocol"));
  }

  /** An end sends no second ping before the answer, so unread answers cannot pile up. */
  #answer(): void {
    if (this.#last !== undefined) return;
    this.#answering = true;
    this.#socket.write(ANSWER, this.#hasAnswered);
  }

  #join(): void {
    if (this.#last === DRAIN) return;
    this.#otherBegins = true;
    this.begin();
    this.#handOver();
  }

  /** Waits until all bytes are written: HTTP/2 writes past the stream's buffer, and Node.js aborts on pending writes. */
  #handOver(): void {
    if (!this.#begins || !this.#otherBegins || this.#socket.destroyed) return;
    this.#socket.off("readable", this.#read).off("error", this.#events.failed);
    this.#events.begun();
  }

  #leave(): void {
    this.#last = DRAIN;
    this.#events.drained();
    this.#socket.end();
  }
}
