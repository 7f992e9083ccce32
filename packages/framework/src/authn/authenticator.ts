import type { IncomingMessage } from "node:http";
import type { Awaitable } from "../storage.ts";
import type { User } from "../user.ts";

/**
 * Finds out who asks. `undefined`: no opinion, the next one is asked; nobody has one: 401. A throw is a failure of
 * the authenticator, logged and counted as no opinion, so that one broken source does not lock everybody out.
 */
export interface Authenticator {
  /** For logs. */
  readonly name: string;
  /** Whether the server must ask TLS clients for a certificate. @default false */
  readonly wantsClientCertificate?: boolean;
  /** Reads credentials off the request and its connection. Called for every request: remember verdicts that cost. */
  authenticate(request: IncomingMessage): Awaitable<User | undefined>;
}
