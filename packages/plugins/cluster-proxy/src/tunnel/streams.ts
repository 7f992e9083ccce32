import type { Http2Session, Http2Stream } from "node:http2";
import { type WindowOptions, Windows } from "./windows.ts";

/** A tunnel through which something has been asked for: HTTP/2, as long as the connection lasts. */
export class Streams<S extends Http2Session = Http2Session> {
  readonly session: S;
  readonly #windows: Windows;
  #opened = 0;

  constructor(session: S, windows?: WindowOptions) {
    this.session = session;
    this.#windows = new Windows(session, windows);
  }

  /** Streams that are open. */
  get open(): number {
    return this.#windows.streams;
  }

  /** Streams that were opened since the beginning. */
  get opened(): number {
    return this.#opened;
  }

  /** A stream that this end asks for by `request`. @throws Error when none can be asked for */
  asked<T extends Http2Stream>(request: (session: S) => T): T {
    // Some versions of Node say so later, by the stream.
    if (this.session.closed || this.session.destroyed) throw new Error("the session of HTTP/2 takes no more streams");
    // Before it is asked for, so that it is granted no more than is right.
    this.#windows.opened();
    try {
      return this.#counted(request(this.session));
    } catch (error) {
      this.#windows.closed();
      throw error;
    }
  }

  /** A stream that the other end has asked for. */
  taken(stream: Http2Stream): void {
    this.#windows.opened();
    this.#counted(stream);
  }

  /** Asks the other end whether it is there. @param answered told how long it took to answer, ms, if it does */
  ping(answered: (roundTrip: number) => void): void {
    // Between its end and the word of it.
    if (this.session.destroyed) return;
    this.session.ping((error, roundTrip) => {
      if (error === null) answered(roundTrip);
    });
  }

  /** Takes no more streams, and ends the connection when those that are open have ended. */
  drain(): void {
    this.session.close();
  }

  #counted<T extends Http2Stream>(stream: T): T {
    this.#opened += 1;
    stream.once("close", () => this.#windows.closed());
    return stream;
  }
}
