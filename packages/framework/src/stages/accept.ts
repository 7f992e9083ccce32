import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { mayBeShortened } from "../limits.ts";
import { problem } from "../malformed.ts";

/** Gives the request its id, under Kubernetes' name for it, and turns away what comes after the server began to drain. */
export function accept(exchange: Exchange): void {
  const { req, res, core, path } = exchange;
  res.setHeader("Audit-Id", exchange.requestId);
  if (req.headers.host === undefined && req.httpVersion === "1.1")
    throw ApiError.badRequest("the Host header is missing");
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

function isProbe(path: string): boolean {
  return path === "/livez" || path === "/readyz" || path.startsWith("/readyz/");
}
