import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type RequestLine, TransportError } from "./answer.ts";

/** The longest line of a watch, bytes: more than any object that Kubernetes stores. */
const MAX_LINE = 16 * 2 ** 20;
const LATE = Symbol("late");
const NEWLINE = 10;

/** One line of a watch, read but not believed. */
export interface WatchLine {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Nothing came within the time given. */
export class NothingCame extends Error {
  override readonly name = "NothingCame";
}

/** The connection went away before the stream was ended as HTTP has it. */
export class StreamCut extends TransportError {}

/** An open watch. Events are pulled: what nobody asks for stays in the socket. */
export class WatchStream implements Disposable {
  readonly request: RequestLine;
  readonly headers: IncomingHttpHeaders;
  /** When the request was sent, by `performance.now()`. */
  readonly sentAt: number;
  /** How long the headers took, ms. */
  readonly headersAfter: number;
  readonly #request: ClientRequest;
  readonly #lines: AsyncGenerator<string, void>;
  #pending: Promise<IteratorResult<string, void>> | undefined;

  constructor(from: { line: RequestLine; request: ClientRequest; response: IncomingMessage; sentAt: number }) {
    this.request = from.line;
    this.headers = from.response.headers;
    this.sentAt = from.sentAt;
    this.headersAfter = performance.now() - from.sentAt;
    this.#request = from.request;
    this.#lines = lines(from.response, MAX_LINE);
  }

  /**
   * The next line, as it is, `undefined` once the server has ended the stream as HTTP has it.
   *
   * @throws as {@link next}
   */
  async line(within: number): Promise<string | undefined> {
    this.#pending ??= this.#lines.next();
    const step = await raced(this.#pending, within).catch((error: unknown) => {
      throw new StreamCut(this.request, error);
    });
    if (step === LATE) throw new NothingCame(`nothing came within ${Math.round(within)} ms`);
    this.#pending = undefined;
    return step.done === true ? undefined : step.value;
  }

  /**
   * The next event, `undefined` once the server has ended the stream as HTTP has it.
   *
   * @throws NothingCame after `within` ms; the event is not lost, the next call gets it
   * @throws StreamCut when the connection goes away
   * @throws TransportError when a line is no event
   */
  async next(within: number): Promise<WatchLine | undefined> {
    const line = await this.line(within);
    return line === undefined ? undefined : this.#parse(line);
  }

  [Symbol.dispose](): void {
    this.#request.destroy();
    // What was still being waited for fails now, and nobody waits any more.
    this.#pending?.catch(() => undefined);
  }

  #parse(line: string): WatchLine {
    try {
      const event = JSON.parse(line) as Partial<WatchLine> | null;
      if (typeof event?.type === "string" && typeof event.object === "object" && event.object !== null)
        return { type: event.type, object: event.object };
    } catch {
      // Said below.
    }
    throw new TransportError(this.request, `a line is no watch event: ${line.slice(0, 200)}`);
  }
}

async function raced<T>(pending: Promise<T>, within: number): Promise<T | typeof LATE> {
  const { promise: late, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(() => resolve(LATE), Math.max(0, within));
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The lines of a byte stream, without their newlines. Pulls: nothing is read ahead of the line that is asked for but
 * the piece it came in, so memory is bounded by `maxBytes` plus one piece.
 *
 * @throws Error on a line longer than `maxBytes`, and on a last line that no newline ends: it may have been cut
 */
export async function* lines(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      check(size + at - from, maxBytes);
      pending.push(piece.subarray(from, at));
      const line = Buffer.concat(pending).toString("utf8");
      pending = [];
      size = 0;
      from = at + 1;
      yield line;
    }
    if (from === piece.length) continue;
    pending.push(piece.subarray(from));
    size += piece.length - from;
    check(size, maxBytes);
  }
  if (size > 0) throw new Error(`the stream ended within a line: ${excerpt(pending)}`);
}

function check(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`);
}

function excerpt(pending: readonly Buffer[]): string {
  return JSON.stringify(Buffer.concat(pending).subarray(0, 200).toString("utf8"));
}
