import type { Dispatcher } from "undici";
import type { TransportError } from "./transport-error.ts";

/** What is held for a reader that lags before the other server is asked to wait, bytes. */
const HELD = 256 * 1024;

/** A body as it comes, at the pace of its reader. */
export class Body implements AsyncIterableIterator<Buffer> {
  readonly #controller: Dispatcher.DispatchController;
  #pieces: Buffer[] = [];
  #held = 0;
  #ended = false;
  #error: unknown;
  #waiting: { resolve: (result: IteratorResult<Buffer>) => void; reject: (error: unknown) => void } | undefined;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  push(piece: Buffer): void {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: piece });
      return;
    }
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held >= HELD) this.#controller.pause();
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  /** What has come before can still be read. */
  fail(error: TransportError | unknown): void {
    this.#error = error;
    this.#ended = true;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<Buffer>> {
    const piece = this.#take();
    if (piece !== undefined) return Promise.resolve({ done: false, value: piece });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Ends the answer early, and with it its connection. */
  return(): Promise<IteratorResult<Buffer>> {
    this.#pieces = [];
    if (!this.#ended) {
      this.#ended = true;
      this.#controller.abort(new Error("nobody reads on"));
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): Buffer | undefined {
    if (this.#pieces.length === 0) return undefined;
    const piece = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#held = 0;
    this.#controller.resume();
    return piece;
  }
}
