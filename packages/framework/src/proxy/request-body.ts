import type { IncomingMessage } from "node:http";

/**
 * Request body, read at its consumer's pace. A response may come before all of it has been read: the rest is then discarded,
 * because the next request on the connection follows it.
 */
export class RequestBody implements AsyncIterable<Buffer> {
  /** Length in bytes; `undefined` when the client has not stated it. */
  readonly length: number | undefined;
  readonly #req: IncomingMessage;
  #over = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #waiting: (() => void) | undefined;

  private constructor(req: IncomingMessage, length: number | undefined) {
    this.#req = req;
    this.length = length;
    req.on("readable", this.#wake);
    req.once("end", () => this.#end());
    req.once("error", (error) => this.#end(error));
    req.once("close", () =>
      this.#end(req.complete ? undefined : new Error("the client disconnected before its request was complete")),
    );
  }

  /** Returns the body; `undefined` without one. */
  static of(req: IncomingMessage): RequestBody | undefined {
    const { "content-length": said, "transfer-encoding": encoding } = req.headers;
    if (said !== undefined) return Number(said) === 0 ? undefined : new RequestBody(req, Number(said));
    const mayHaveOne = encoding !== undefined || (req.httpVersionMajor > 1 && !req.complete);
    return mayHaveOne ? new RequestBody(req, undefined) : undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    while (!this.#over) {
      const piece = this.#req.read() as Buffer | null;
      if (piece !== null) yield piece;
      else if (this.#ended !== undefined) break;
      else
        await new Promise<void>((resolve) => {
          this.#waiting = resolve;
        });
    }
    if (this.#ended?.error !== undefined) throw this.#ended.error;
  }

  /** Discards the rest. */
  discard(): void {
    if (this.#over) return;
    this.#over = true;
    this.#req.off("readable", this.#wake);
    this.#req.on("error", () => undefined).resume();
    this.#wake();
  }

  readonly #wake = (): void => {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  };

  #end(error?: Error): void {
    this.#ended ??= { error };
    this.#wake();
  }
}
