import type { IncomingMessage } from "node:http";
import { clientCertificate } from "../listener/connections.ts";
import { cut, LimitedLog } from "../observe/log/limited-log.ts";
import type { Log } from "../observe/log/log.ts";
import { UNAUTHENTICATED, type User } from "../request/user.ts";
import type { Authenticator, ConnectionFacts } from "./authenticator.ts";
import { type IdentityHeaders, utf8 } from "./headers.ts";

interface Options {
  readonly authentication: readonly Authenticator[];
  readonly connection: ConnectionFacts;
  readonly identityHeaders: IdentityHeaders;
  readonly log: Log;
}

/** Name under which proxies send the user unless configured otherwise. */
export const REMOTE_USER = "x-remote-user";

/**
 * Logs why a client certificate, or identity headers, do not identify the caller: a proxy in front that the server does not
 * accept looks like any other client, and the answer reveals nothing. Security: it logs no value of a header.
 */
export class IgnoredIdentities {
  readonly #options: Options;
  readonly #log: LimitedLog;

  constructor(options: Options) {
    this.#options = options;
    this.#log = new LimitedLog(options.log);
  }

  /** @param user the authenticated caller; `undefined` for none. A known caller without `X-Remote-User` has nothing to log. */
  tell(
    { req, peer }: { readonly req: IncomingMessage; readonly peer: string | undefined },
    user: User | undefined,
  ): void {
    const named = req.headers[REMOTE_USER];
    const isKnown = user !== undefined && !user.in(UNAUTHENTICATED);
    if (user !== undefined && typeof named === "string" && utf8(named) === user.name) return;
    const headers = this.#headersOf(req, isKnown);
    const certificate = clientCertificate(req);
    if (headers.length === 0 && certificate === undefined) return;
    const reason = certificate === undefined ? this.#unshown() : this.#reasons(req, isKnown);
    if (reason === undefined) return;
    this.#log.tell({
      level: "info",
      message: "identity ignored",
      address: peer,
      ...(certificate && { subject: oneLine(certificate.subject), issuer: oneLine(certificate.issuer) }),
      ...(headers.length > 0 && { headers: cut(headers.join(", ")) }),
      reason,
    });
  }

  /** Returns the names of ignored headers. Those of impersonation have an effect for a known caller. */
  #headersOf(req: IncomingMessage, isKnown: boolean): readonly string[] {
    const names = this.#options.identityHeaders.namesIn(req);
    return isKnown ? names.filter((name) => !/^impersonate-/i.test(name)) : names;
  }

  #unshown(): string {
    return this.#options.connection.clientCa.length > 0
      ? "the client showed no certificate: it has none, or none of an authority that this server accepts"
      : "the server requests no client certificate, because it has no authority for one";
  }

  /** Returns the reasons of all authenticators; `undefined` when one accepts the certificate of an unknown caller. */
  #reasons(req: IncomingMessage, isKnown: boolean): string | undefined {
    const { authentication, connection } = this.#options;
    const asked = authentication.filter(({ reason }) => reason !== undefined);
    const reasons = asked.map(({ name, reason }) => ({ name, reason: reason?.(req, connection) }));
    const given = reasons.filter(({ reason }) => reason !== undefined);
    if (given.length === 0 || (!isKnown && given.length < reasons.length)) return undefined;
    return given.map(({ name, reason }) => `${name}: ${reason}`).join("; ");
  }
}

/** Returns a distinguished name on one line, which Node separates with line breaks. */
function oneLine(name: string): string {
  return cut(name.split("\n").join(", "));
}
