import type { Http2Session, Http2Stream } from "node:http2";
import { type WindowOptions, Windows } from "./windows.ts";

/** Length of the payload of a ping: one digit, if there is a report, and zeros. */
const PAYLOAD = 8;
const ZERO = "0".charCodeAt(0);

/** HTTP/2 session of a tunnel with streams, for the rest of the connection. */
export class Streams<S extends Http2Session = Http2Session> {
  readonly session: S;
  readonly #windows: Windows;
  #opened = 0;

  constructor(session: S, windows?: WindowOptions) {
    this.session = session;
    this.#windows = new Windows(session, windows);
  }

  /** Open streams. */
  get open(): number {
    return this.#windows.streams;
  }

  /** Total number of opened streams. */
  get opened(): number {
    return this.#opened;
  }

  /** Opens a stream with `request`. @throws Error if no new stream is possible */
  asked<T extends Http2Stream>(request: (session: S) => T): T {
    // Some versions of Node.js report this later, by an error of the stream.
    if (this.session.closed || this.session.destroyed) throw new Error("the HTTP/2 session accepts no new streams");
    // Before the request, so that its window is already reduced.
    this.#windows.opened();
    try {
      return this.#counted(request(this.session));
    } catch (error) {
      this.#windows.closed();
      throw error;
    }
  }

  /** Registers a stream that the other end has opened. */
  taken(stream: Http2Stream): void {
    this.#windows.opened();
    this.#counted(stream);
  }

  /** Sends a ping. @param answered called with the round-trip time, ms, if there is a pong @param report digit, in place of none */
  ping(answered: (roundTrip: number) => void, report?: number): void {
    // The session may be destroyed before its event arrives.
    if (this.session.destroyed) return;
    const payload = Buffer.alloc(PAYLOAD);
    if (report !== undefined) payload.write(String(report));
    this.session.ping(payload, (error, roundTrip) => {
      if (error === null) answered(roundTrip);
    });
  }

  /** Calls a function with the report in each ping of the other end. */
  onReport(reported: (report: number) => void): void {
    this.session.on("ping", (payload: Buffer) => {
      const [first = 0] = payload;
      if (first !== 0) reported(first - ZERO);
    });
  }

  /** Accepts no new streams, and closes the connection when the open ones have ended. */
  drain(): void {
    this.session.close();
  }

  #counted<T extends Http2Stream>(stream: T): T {
    this.#opened += 1;
    stream.once("close", () => this.#windows.closed());
    return stream;
  }
}
