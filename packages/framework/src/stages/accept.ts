import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";

/** Gives the request its id, under Kubernetes' name for it, and turns away what comes after the server began to drain. */
export function accept(exchange: Exchange): void {
  exchange.res.setHeader("Audit-Id", exchange.requestId);
  if (!exchange.core.draining || isProbe(exchange.path)) return;
  exchange.res.setHeader("Connection", "close");
  throw ApiError.serviceUnavailable("the server is shutting down; try again", 1);
}

function isProbe(path: string): boolean {
  return path === "/livez" || path === "/readyz" || path.startsWith("/readyz/");
}
