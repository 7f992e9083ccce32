import type { ResponseHeaders } from "./headers.ts";

/** HTTP request without its wire form. */
export interface InProcessRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly path: string;
  /** Flat pairs, name and value in turn, a character for each byte. What is read from a frozen array is kept with it. */
  readonly headers: readonly string[];
  readonly body: Buffer | string | AsyncIterable<Buffer> | null;
}

/** Complete response to an {@link InProcessRequest}. */
export interface InProcessWhole {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Body, whose memory is not overwritten. */
  readonly body: Buffer;
  /** Immutable object that `body` encodes, if the server has it. */
  readonly object?: unknown;
}

/** Receives the response to an {@link InProcessRequest}. */
export interface InProcessResponse {
  /** Takes a complete response instead of the other calls. @default the other calls */
  readonly whole?: ((response: InProcessWhole) => void) | undefined;
  /** Takes the head, once. */
  head(status: number, headers: ResponseHeaders): void;
  /** Takes a chunk, whose memory may be overwritten after the call. Not called between `pause` and `resume`. */
  data(chunk: Buffer): void;
  /** Called after the last chunk. */
  end(): void;
  /** Called instead of {@link end}, when the response is incomplete. */
  fail(error: Error): void;
}

/** Request that a server of the same process is answering. */
export interface InProcessCall {
  /** Holds the body back. */
  pause(): void;
  /** Continues after {@link pause}. */
  resume(): void;
  /** Ends it as a client that disconnects. Nothing is received any more. */
  abort(): void;
}

/** Server of the same process, which gets requests as objects. */
export interface InProcessServer {
  /** Resolves when it answers; requests wait for it. */
  readonly ready: Promise<void>;
  /** Begins to answer after it has returned. */
  serve(request: InProcessRequest, response: InProcessResponse): InProcessCall;
}
