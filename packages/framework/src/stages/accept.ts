import { type IncomingMessage, METHODS, type ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { mayBeShortened } from "../listener/limits.ts";
import { problem } from "../listener/malformed.ts";

/** Of a query: no client of Kubernetes comes near. Node reads as many in a millisecond, and more in quadratic time. */
const MOST_PARAMETERS = 1000;

const KNOWN: ReadonlySet<string> = new Set(METHODS);

/** Gives the request its id, under Kubernetes' name for it, and turns away what comes after the server began to drain. */
export function accept(exchange: Exchange): void {
  const { req, res, core, path } = exchange;
  res.setHeader("Audit-Id", exchange.requestId);
  // Over HTTP/2 any word is a method.
  if (!KNOWN.has(req.method ?? "")) throw problem(405, "the method is none of HTTP's: write it in capitals");
  if (req.headers.host === undefined && req.httpVersion !== "1.0")
    throw ApiError.badRequest("the Host header is missing");
  refuseCrowded(exchange.search);
  refuseDoubled(req.rawHeaders);
  refuseEncoded(req, res);
  if (mayBeShortened(req)) throw problem(431, "too many header lines: set maxHeadersCount of the server to 0");
  core.identityHeaders.refuseListed(req);
  if (!core.draining || isProbe(path)) return;
  throw shuttingDown(exchange);
}

/** The refusal of a request that comes, or whose turn would come, after the server began to drain. */
export function shuttingDown({ res }: Exchange): ApiError {
  res.setHeader("Connection", "close");
  return ApiError.serviceUnavailable("the server is shutting down; try again", 1);
}

/** Before anything reads it. */
function refuseCrowded(search: string): void {
  if (search.length < MOST_PARAMETERS) return;
  let parameters = 1;
  for (let at = search.indexOf("&"); at !== -1; at = search.indexOf("&", at + 1)) {
    parameters++;
    if (parameters > MOST_PARAMETERS)
      throw ApiError.badRequest(`the query has more than ${MOST_PARAMETERS} parameters: send fewer`);
  }
}

/** Lines of which Node would believe the first, and whoever stands before or behind us perhaps another. */
function refuseDoubled(rawHeaders: readonly string[]): void {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at] as string;
    if (length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts++;
    else if (length === 13 && rawHeaders[at]?.toLowerCase() === "authorization") authorizations++;
  }
  if (hosts > 1) throw ApiError.badRequest("the request names two hosts: send one Host header");
  if (authorizations > 1) throw ApiError.badRequest("two Authorization headers: send one");
}

/** Node takes a body that is compressed as well for one that is not, and an older one an encoding of no name for no body. */
function refuseEncoded({ headers }: IncomingMessage, res: ServerResponse): void {
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "chunked") return;
  res.shouldKeepAlive = false;
  throw ApiError.badRequest("the only transfer encoding is chunked");
}

function isProbe(path: string): boolean {
  return path === "/livez" || path === "/readyz" || path.startsWith("/readyz/");
}
