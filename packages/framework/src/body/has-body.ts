import type { IncomingMessage } from "node:http";

/** Whether a request says that it has a body, of some length. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
