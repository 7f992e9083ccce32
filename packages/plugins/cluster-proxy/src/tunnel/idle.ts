// Why: a session of HTTP/2 costs 25 KiB, and of most tunnels nothing is asked most of the time. Until something is, each end says
// single bytes. What is there: a question is answered. Behind BEGIN is HTTP/2, once both ends have said it. Behind DRAIN is nothing.
import type { Duplex } from "node:stream";
import { TunnelError } from "./tunnel-error.ts";

const ASK = "?";
const ANSWER = "!";
const BEGIN = ">";
const DRAIN = ".";

/** Who is told what comes of it. */
export interface IdleEvents {
  /** The other end has answered. @param roundTrip ms */
  readonly answered: (roundTrip: number) => void;
  /** From now on the connection is HTTP/2's. */
  readonly begun: () => void;
  /** The other end takes nothing; the connection ends. */
  readonly drained: () => void;
  /** The connection cannot be used. */
  readonly failed: (error: Error) => void;
}

/** A tunnel through which nothing has been asked for yet. */
export class IdleTunnel {
  readonly #socket: Duplex;
  readonly #events: IdleEvents;
  /** When this end has asked, if there was no answer. */
  #asked: number | undefined;
  #answering = false;
  /** What this end says last. */
  #last: typeof BEGIN | typeof DRAIN | undefined;
  #begins = false;
  #otherBegins = false;

  constructor(socket: Duplex, events: IdleEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("readable", this.#read).on("error", events.failed);
  }

  /** Asks the other end whether it is there, unless it owes an answer. */
  ping(): void {
    if (this.#last !== undefined || this.#asked !== undefined) return;
    this.#asked = performance.now();
    this.#socket.write(ASK);
  }

  /** Wants HTTP/2. */
  begin(): void {
    if (this.#last !== undefined) return;
    this.#last = BEGIN;
    this.#socket.write(BEGIN, (error) => {
      this.#begins = !error;
      this.#handOver();
    });
  }

  /** Takes nothing, and ends the connection; not if HTTP/2 is about to begin. */
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
    else if (word === ANSWER && this.#asked !== undefined) {
      this.#events.answered(performance.now() - this.#asked);
      this.#asked = undefined;
    } else if (word === BEGIN) this.#join();
    else if (word === DRAIN) this.#leave();
    else
      this.#events.failed(new TunnelError("closed", "the other end of the tunnel says what no end of a tunnel says"));
  }

  /** An end that has had no answer does not ask again: so whoever asks and does not read cannot have answers pile up here. */
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

  /** Not before all is written, whatever the other end says: HTTP/2 writes past what the stream still holds, and Node aborts of what it still writes. */
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
