import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";

/**
 * What is for one connection and not for the next, what the next server is told anew, and where a client says that it comes
 * from. Whom a request is from is none of it: the server has taken that off before a handler gets the request.
 */
const OURS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "x-kcp-virtual-resource-hops",
]);
const FORWARDED = "x-forwarded-";

/** The headers of a request that are passed on, as flat pairs. @throws ApiError 400 on one that is no UTF-8 */
export function passedHeaders({ headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">): string[] {
  const listed = new Set(headers.connection?.split(",").map((name) => name.trim().toLowerCase()));
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (OURS.has(lower) || lower.startsWith(FORWARDED) || lower.startsWith(":") || listed.has(lower)) continue;
    lines.push(name, asText(name, value));
  }
  return lines;
}

/** Node has a character for each byte. */
function asText(name: string, value: string): string {
  if (/^[\t -~]*$/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  throw ApiError.badRequest(`the header ${name} has bytes that are no UTF-8`);
}
