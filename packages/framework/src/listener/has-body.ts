import type { IncomingMessage } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

/** Whether a body follows the head, which may be empty all the same. HTTP/2 need not say how long it is. */
export function hasBody(req: IncomingMessage): boolean {
  const { stream } = req as { readonly stream?: ServerHttp2Stream };
  if (stream !== undefined) return !stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}
