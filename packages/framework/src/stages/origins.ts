import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { AuthenticatedExchange, Exchange } from "../exchange.ts";
import type { AllowedOrigins } from "../listener/allowed-origins.ts";
import { isWebSocket } from "../watch/web-sockets.ts";

/** Kubernetes' own lists. */
const METHODS = "POST, GET, OPTIONS, PUT, DELETE, PATCH";
const REQUEST_HEADERS =
  "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since";
/** Kubernetes exposes `Date` alone; clients also read these. */
const RESPONSE_HEADERS = "Date, Audit-Id, Retry-After, Warning";

/**
 * Adds the headers by which a browser lets a page of an allowed origin read the response (CORS), and answers preflight
 * requests, which never carry credentials.
 */
export function cors(exchange: Exchange, allowed: AllowedOrigins): void {
  const { req, res, method } = exchange;
  res.appendHeader("Vary", "Origin");
  const { origin } = req.headers;
  if (origin === undefined || !allowed.has(origin)) return;
  res.setHeader("Access-Control-Allow-Origin", origin);
  res.setHeader("Access-Control-Allow-Credentials", "true");
  res.setHeader("Access-Control-Expose-Headers", RESPONSE_HEADERS);
  if (method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) return;
  exchange.answered = true;
  res.writeHead(204, {
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
  });
  res.end();
}

/**
 * Rejects a WebSocket of a page of another origin. Security: browsers send client certificates and cookies with it, and unlike
 * for other requests they let any page read the answer.
 *
 * @throws ApiError 403
 */
export function checkOrigin({ req, core }: AuthenticatedExchange): void {
  const { origin: from, host } = req.headers;
  if (from === undefined || !isWebSocket(req)) return;
  const [, own] = /^https?:\/\/(.+)$/i.exec(from) ?? [];
  const isOwn = own !== undefined && own.toLowerCase() === host?.toLowerCase();
  if (isOwn || core.origins?.has(from) === true) return;
  const shown = from.length > SHOWN ? `${from.slice(0, SHOWN)}…` : from;
  throw ApiError.forbidden({
    resource: { group: "", resource: "" },
    message: `WebSockets of pages from ${quote(shown)} are not allowed: the operator adds the origin to corsAllowedOrigins, or to --cors-allowed-origins`,
  });
}

/** Maximum length of an origin in an error, in characters. */
const SHOWN = 100;
