import type { IncomingMessage } from "node:http";
import type { User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";

/** What the server knows of the connection that a request came on. */
export interface ConnectionFacts {
  /** PEM of every authority that the handshake has checked a client certificate against. Empty: unknown, or it asked for none. */
  readonly clientCa: readonly (string | Buffer)[];
}

/**
 * Finds out who asks. `undefined`: no opinion, the next one is asked; nobody has one: 401. A throw is a failure of
 * the authenticator, logged and counted as no opinion, so that one broken source does not lock everybody out; but an
 * `ApiError` 400 is the answer: credentials that are malformed must not be somebody's by another authenticator. And an
 * `ApiError` 503 is, in place of 401, where no other one knows the caller: whoever can be asked again later is not told that
 * good credentials are bad. Throw it only of those that are known to be ours, by their signature for one.
 */
export interface Authenticator {
  /** For logs. */
  readonly name: string;
  /**
   * PEM of the authorities whose client certificates it takes: the server then asks TLS clients for one. The handshake
   * checks it against the authorities of all authenticators together, so each must still check that it is one of its own.
   */
  readonly clientCa?: string | Buffer;
  /** The same from a file, which the server reads again when it changes. */
  readonly clientCaFile?: string;
  /**
   * Headers besides Kubernetes' own that say who asks, in lower case; `x-*` stands for all that begin with `x-`. They
   * never reach raw handlers.
   */
  readonly identityHeaders?: readonly string[];
  /** Reads credentials off the request and its connection. Called for every request: remember verdicts that cost. */
  authenticate(request: IncomingMessage, connection: ConnectionFacts): Awaitable<User | undefined>;
}
