import type { ResponseHeaders } from "./headers.ts";

interface Response {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** An answer, read to its end. */
export interface WholeResponse extends Response {
  readonly body: Buffer;
}

/**
 * An answer whose body is read piece by piece, at the reader's pace. Read it, or end it: else it holds its connection until
 * the idle deadline, which does not run while nobody reads, has passed.
 */
export interface StreamedResponse extends Response, AsyncDisposable {
  /** Ends early, with a {@link TransportError}, when the connection does. Can be read once. */
  readonly body: AsyncIterable<Buffer>;
}
