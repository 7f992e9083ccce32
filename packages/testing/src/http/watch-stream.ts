import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type RequestLine, TransportError } from "./answer.ts";

/** Maximum length of a line of a watch, in bytes: longer than any object that Kubernetes stores. */
const MAX_LINE = 16 * 2 ** 20;
const LATE = Symbol("late");
const NEWLINE = 10;

/** One line of a watch, parsed but not validated. */
export interface WatchLine {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Error of a stream that sent nothing within the given time. */
export class NothingCame extends Error {
  override readonly name = "NothingCame";
}

/** Error of a connection that closed before the HTTP body was complete. */
export class StreamCut extends TransportError {}

/** Open watch. Events are pulled; events that are not read stay in the socket. */
export class WatchStream implements Disposable {
  readonly request: RequestLine;
  readonly headers: IncomingHttpHeaders;
  /** Time at which the request was sent, from `performance.now()`. */
  readonly sentAt: number;
  /** Time until the headers arrived, in ms. */
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
   * Returns the next raw line, or `undefined` once the server has ended the body properly.
   *
   * @throws like {@link next}
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
   * Returns the next event, or `undefined` once the server has ended the body properly.
   *
   * @throws NothingCame after `within` ms; the event is not lost, the next call returns it
   * @throws StreamCut when the connection closes early
   * @throws TransportError when a line is not an event
   */
  async next(within: number): Promise<WatchLine | undefined> {
    const line = await this.line(within);
    return line === undefined ? undefined : this.#parse(line);
  }

  [Symbol.dispose](): void {
    this.#request.destroy();
    // A pending read now fails, and no caller awaits it any more.
    this.#pending?.catch(() => undefined);
  }

  #parse(line: string): WatchLine {
    try {
      const event = JSON.parse(line) as Partial<WatchLine> | null;
      if (typeof event?.type === "string" && typeof event.object === "object" && event.object !== null)
        return { type: event.type, object: event.object };
    } catch {
      // The error is reported below.
    }
    throw new TransportError(this.request, `a line is not a watch event: ${line.slice(0, 200)}`);
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
 * Yields the lines of a byte stream, without their newlines. Reads no further than the chunk that contains the requested
 * line, so memory is bounded by `maxBytes` plus one chunk.
 *
 * @throws Error for a line longer than `maxBytes`, and for a last line without a newline, because it may be truncated
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
