import type { ServerResponse } from "node:http";

type Write = (chunk?: unknown, ...rest: unknown[]) => unknown;

/** Keeps what a response writes, up to a limit: beyond it nothing at all. */
export class Capture {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** HTTP/2's `end` calls `write`. */
  #ending = false;

  constructor(res: ServerResponse, limit: number) {
    this.#limit = limit;
    const { write, end } = res as unknown as { readonly write: Write; readonly end: Write };
    const take = (chunk: unknown): void => this.#take(chunk);
    const tapped: { readonly write: Write; readonly end: Write } = {
      write: (...written) => {
        if (!this.#ending) take(written[0]);
        return write.apply(res, written);
      },
      end: (...written) => {
        if (!this.#ending) take(written[0]);
        this.#ending = true;
        return end.apply(res, written);
      },
    };
    Object.assign(res, tapped);
  }

  /** All that was written; `undefined` when that was too much. */
  get bytes(): Buffer | undefined {
    return this.#length > this.#limit ? undefined : Buffer.concat(this.#pieces, this.#length);
  }

  #take(chunk: unknown): void {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    this.#length += chunk.length;
    if (this.#length > this.#limit) this.#pieces = [];
    // A copy: writers use their buffers again.
    else this.#pieces.push(Buffer.from(chunk as Uint8Array));
    if (typeof chunk === "string") this.#length += (this.#pieces.at(-1)?.length ?? chunk.length) - chunk.length;
  }
}
