import type { Duplex } from "node:stream";
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
  /** Takes all of the body, if all of it has come and nothing of it was read: a short one comes with its head. Else it is to be read piece by piece. */
  readonly whole?: () => Buffer | undefined;
}

/** The other server speaks something else from now on (101). */
export interface UpgradedResponse extends Response {
  readonly status: 101;
  /** The connection, as it is behind the answer's head. Whoever gets it ends it; closing the upstream ends it too. */
  readonly socket: Duplex;
}

/** Whether the other server has taken an upgrade. */
export function isUpgraded(answer: StreamedResponse | UpgradedResponse): answer is UpgradedResponse {
  return "socket" in answer;
}
