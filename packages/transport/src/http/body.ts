import type { IdleTimer } from "../time/timer.ts";
import { TransportError } from "../transport-error.ts";

/** Bytes held for a slow reader before backpressure stops the server. */
const HELD = 256 * 1024;

export interface BodySource {
  pause(): void;
  resume(): void;
  /** Called when the reader stops early. */
  abandon(): void;
  /** Expires when a reader has waited too long. */
  readonly patience: IdleTimer;
}

/** Receives a body as it arrives, without a promise for each chunk. */
export interface BodySink {
  /**
   * Takes a chunk. Its memory is valid only until the call returns, because the next read of any connection overwrites it:
   * write or copy it at once.
   *
   * @returns whether to go on: after `false` the next chunk comes after {@link SinkControl.resume}
   */
  write(piece: Buffer): boolean;
  /** Called once, after the last chunk. */
  end(): void;
  /** Called once instead of {@link end}, when the body is incomplete. */
  fail(error: unknown): void;
}

/** Controls the body that a {@link BodySink} receives. */
export interface SinkControl {
  /** Continues after `false` of the sink. */
  resume(): void;
  /** Ends the response early, and closes its connection. The sink is not called again. */
  stop(): void;
}

/** Body in chunks, at the pace of its reader. It holds at most 256 KiB plus one read of the socket. */
export class Body implements AsyncIterableIterator<Buffer>, SinkControl {
  readonly #source: BodySource;
  #pieces: Buffer[] = [];
  #held = 0;
  #read = false;
  #ended = false;
  #failed: { readonly error: unknown } | undefined;
  #waiting: PromiseWithResolvers<IteratorResult<Buffer>> | undefined;
  #sink: BodySink | undefined;
  #isPaused = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** @param lent whether the memory of the chunk is overwritten after the call */
  push(lent: Buffer, isLent: boolean): void {
    if (this.#ended) return;
    if (this.#sink !== undefined) {
      this.#give(this.#sink, lent);
      return;
    }
    const piece = isLent ? Buffer.from(lent) : lent;
    const waiting = this.#served();
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: piece });
      return;
    }
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held >= HELD) this.#source.pause();
  }

  /** Ends the body. Chunks that have arrived can still be read. */
  end(): void {
    this.#ended = true;
    this.#served()?.resolve(DONE);
    this.#sink?.end();
    this.#sink = undefined;
  }

  /** Like {@link end}, but the last read throws the error. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const waiting = this.#served();
    if (this.#sink !== undefined) this.#sink.fail(error);
    else if (waiting === undefined) this.#failed = { error };
    else waiting.reject(error);
    this.#sink = undefined;
  }

  /** Gives the chunks to a sink, beginning with those that have arrived. For an unread body, instead of reading it. */
  into(sink: BodySink): SinkControl {
    this.#read = true;
    const piece = this.#take();
    if (piece !== undefined) this.#isPaused = !sink.write(piece);
    if (this.#failed !== undefined) sink.fail(this.#failed.error);
    else if (this.#ended) sink.end();
    else {
      this.#sink = sink;
      if (this.#isPaused) this.#source.pause();
      else this.#source.patience.begin();
    }
    return this;
  }

  resume(): void {
    if (!this.#isPaused || this.#ended) return;
    this.#isPaused = false;
    this.#source.patience.begin();
    this.#source.resume();
  }

  stop(): void {
    this.#sink = undefined;
    if (this.#ended) return;
    this.#ended = true;
    this.#source.patience.rest();
    this.#source.abandon();
  }

  #give(sink: BodySink, piece: Buffer): void {
    if (sink.write(piece)) this.#source.patience.begin();
    else if (!this.#ended) {
      this.#isPaused = true;
      this.#source.patience.rest();
      this.#source.pause();
    }
  }

  async next(): Promise<IteratorResult<Buffer>> {
    if (this.#waiting !== undefined) throw new Error("concurrent reads of a body: await each chunk");
    this.#read = true;
    const piece = this.#take();
    if (piece !== undefined) return { done: false, value: piece };
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined) throw failed.error;
    if (this.#ended) return DONE;
    this.#waiting = Promise.withResolvers();
    this.#source.patience.begin();
    return this.#waiting.promise;
  }

  /** Returns the whole body, if it is complete and unread. */
  whole(): Buffer | undefined {
    if (!this.#ended || this.#failed !== undefined || this.#read) return undefined;
    this.#read = true;
    return this.#take() ?? NOTHING;
  }

  /** Ends the response early, and closes its connection. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.#pieces = [];
    this.#failed = undefined;
    const early = !this.#ended;
    this.end();
    if (early) this.#source.abandon();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the waiting reader, and clears it. */
  #served(): PromiseWithResolvers<IteratorResult<Buffer>> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#source.patience.rest();
    return waiting;
  }

  #take(): Buffer | undefined {
    if (this.#pieces.length === 0) return undefined;
    const piece = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces, this.#held);
    const full = this.#held >= HELD;
    this.#pieces = [];
    this.#held = 0;
    if (full) this.#source.resume();
    return piece;
  }
}

const NOTHING = Buffer.alloc(0);
const DONE: IteratorResult<Buffer> = Object.freeze({ done: true, value: undefined });

/** Options of {@link lines}. */
export interface LineOptions {
  /** Maximum length of a line without its line feed, in bytes. */
  readonly limit: number;
}

const LINE_FEED = 10;

/**
 * Yields the lines of a body without line feeds, each as soon as it is complete. Skips empty lines, and a last one without a
 * line feed, which is incomplete.
 *
 * @throws TransportError `tooLarge` for a line that is too long
 */
export async function* lines(
  body: AsyncIterable<Buffer>,
  { limit }: LineOptions,
): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
      const rest = piece.subarray(from, at);
      from = at + 1;
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      length = 0;
      if (line.length > limit) throw tooLong(limit);
      if (line.length > 0) yield line;
    }
    if (from === piece.length) continue;
    begun.push(piece.subarray(from));
    length += piece.length - from;
    if (length > limit) throw tooLong(limit);
  }
}

function tooLong(limit: number): TransportError {
  return new TransportError("tooLarge", `a line of the body is longer than ${limit} bytes`, { delivered: true });
}
