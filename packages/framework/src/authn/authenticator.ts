import type { IncomingMessage } from "node:http";
import type { User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";

/** Facts about the connection that carries a request. */
export interface ConnectionFacts {
  /** PEM of every authority that the handshake checks client certificates against. Empty: unknown or none. */
  readonly clientCa: readonly (string | Buffer)[];
}

/**
 * Identifies the caller of a request. `undefined` means no opinion: the server tries the next authenticator, and answers 401
 * when none recognizes the caller. A thrown error is logged and counts as no opinion, so that one broken source does not lock
 * out every caller. An `ApiError` 400 is sent to the client: no other authenticator may accept malformed credentials. An
 * `ApiError` 503 is sent instead of 401 when no other authenticator recognizes the caller, so that the client retries. Throw
 * it only for credentials that are known to belong to this authenticator, by their signature for example.
 */
export interface Authenticator {
  /** Name in logs. */
  readonly name: string;
  /**
   * PEM of the authorities whose client certificates this authenticator accepts; the server then requests certificates from
   * TLS clients. The handshake trusts the authorities of all authenticators together, so each authenticator must check that a
   * certificate comes from its own.
   */
  readonly clientCa?: string | Buffer;
  /** File with the same content. The server reads it again when it changes. */
  readonly clientCaFile?: string;
  /**
   * Headers besides Kubernetes' own that carry an identity, in lower case; `x-*` matches every name that begins with `x-`.
   * The server strips them before it calls raw handlers.
   */
  readonly identityHeaders?: readonly string[];
  /** Reads credentials from the request and its connection. Called for every request: cache expensive results. */
  authenticate(request: IncomingMessage, connection: ConnectionFacts): Awaitable<User | undefined>;
  /**
   * Returns why it does not accept the client certificate of a request; `undefined` when it accepts it. The server logs this
   * for a certificate that no authenticator accepts, and for identity headers that it ignores. Security: the reason does not
   * reach the client.
   * @default the server logs no reason for this authenticator
   */
  readonly reason?: (request: IncomingMessage, connection: ConnectionFacts) => string | undefined;
}
