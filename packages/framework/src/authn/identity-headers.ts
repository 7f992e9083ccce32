import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { clientCertificate } from "../listener/connection.ts";
import { KnownNames } from "../util/known-names.ts";
import { HeaderNames, SUBPROTOCOL } from "./headers.ts";

/** Those that Kubernetes, kcp and their proxies believe; the rest is the authenticators' to name. */
const ALWAYS = ["authorization", "impersonate-*", "x-remote-*"];
const PROTOCOL = "sec-websocket-protocol";

/** The headers that say who asks: they are for this server, and nobody behind it may take them for its word. */
export class IdentityHeaders {
  readonly #known: KnownNames;

  /** @param more in lower case; `x-*` stands for all that begin with `x-` */
  constructor(more: readonly string[]) {
    const names = new HeaderNames([...ALWAYS, ...more]);
    this.#known = new KnownNames((header) => names.has(header.toLowerCase().replaceAll("_", "-")));
  }

  /** Whether a header says who asks, to us or to a server behind us that takes `_` for `-`. */
  has(header: string): boolean {
    return this.#known.has(header);
  }

  /** Whether a request says who asks, by a header, a browser's subprotocol, a cookie or a client certificate. */
  bringsCredentials(req: IncomingMessage): boolean {
    const { headers, rawHeaders } = req;
    if (headers.cookie !== undefined || headers[PROTOCOL] !== undefined) return true;
    if (rawHeaders.some((name, at) => at % 2 === 0 && this.has(name))) return true;
    return clientCertificate(req) !== undefined;
  }

  /**
   * A proxy in front that follows RFC 9110 drops what `Connection` lists: a client could take groups or scopes from
   * what that proxy has to say.
   *
   * @throws ApiError 400 when one of these is listed
   */
  refuseListed({ headers: { connection } }: IncomingMessage): void {
    if (connection === undefined || connection === "keep-alive" || connection === "close") return;
    const listed = connection.split(",").find((one) => this.has(one.trim()));
    if (listed !== undefined) throw ApiError.badRequest(`the Connection header must not list ${listed.trim()}`);
  }

  /** Takes them off a request, in whichever form a handler reads its headers. */
  drop(req: IncomingMessage): void {
    // Read before the raw list is cut: Node makes these from it on first reading, by its old length.
    const { headers, headersDistinct, rawHeaders } = req;
    for (const form of [headers, headersDistinct])
      for (const name of Object.keys(form)) if (this.has(name)) delete form[name];
    const lines: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
      if (this.has(name)) continue;
      if (name.toLowerCase() !== PROTOCOL) lines.push(name, value);
      else if (withoutToken(value) !== "") lines.push(name, withoutToken(value));
    }
    req.rawHeaders = lines;
    dropTokens(headers, headersDistinct);
  }
}

/** A browser's token is one of the subprotocols that it offers. */
function dropTokens(headers: IncomingMessage["headers"], distinct: IncomingMessage["headersDistinct"]): void {
  const offered = headers[PROTOCOL];
  if (offered === undefined) return;
  const left = withoutToken(offered);
  if (left === "") {
    delete headers[PROTOCOL];
    delete distinct[PROTOCOL];
    return;
  }
  headers[PROTOCOL] = left;
  distinct[PROTOCOL] = (distinct[PROTOCOL] ?? []).map(withoutToken).filter((line) => line !== "");
}

function withoutToken(offered: string): string {
  const protocols = offered.split(",").map((one) => one.trim());
  return protocols.filter((one) => !one.startsWith(SUBPROTOCOL)).join(", ");
}
