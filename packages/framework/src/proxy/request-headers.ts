import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { IdentityHeaders } from "../authn/headers.ts";
import { KnownNames } from "../util/known-names.ts";

/**
 * What is for one connection and not for the next, what the next server is told anew, and where a client says that it comes
 * from.
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
/** What servers believe of a proxy: taken off whether or not the server that got the request has done so, and in all spellings. */
const IDENTITY = new IdentityHeaders([]);

/** Names of headers that are passed on. */
const PASSED = new KnownNames((name) => {
  const lower = name.toLowerCase();
  return (
    !OURS.has(lower) && !lower.startsWith(FORWARDED) && !lower.startsWith(":") && !IDENTITY.has(lower) && lower !== ""
  );
});
const ASCII = /^[\t -~]*$/;

/**
 * The headers of a request that are passed on, as flat pairs, and behind them what is said besides, in place of all that the
 * client sends under the same names.
 *
 * @param said flat pairs
 * @throws ApiError 400 on one that is no UTF-8
 */
export function passedHeaders(
  { headers: { connection }, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  said: readonly string[],
): string[] {
  const left = leftOut(connection, said);
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (!PASSED.has(name) || left?.has(name.toLowerCase()) === true) continue;
    lines.push(name, ASCII.test(value) ? value : asText(name, value));
  }
  for (const text of said) lines.push(text);
  return lines;
}

/** What is left out of this request besides; nothing, of most. */
function leftOut(connection: string | undefined, said: readonly string[]): Set<string> | undefined {
  let names: Set<string> | undefined;
  const leave = (name: string): void => {
    names ??= new Set();
    names.add(name.toLowerCase());
  };
  if (connection !== undefined && connection !== "keep-alive" && connection !== "close")
    for (const name of connection.split(",")) leave(name.trim());
  for (let at = 0; at < said.length; at += 2) if (PASSED.has(said[at] as string)) leave(said[at] as string);
  return names;
}

/** Node has a character for each byte. */
function asText(name: string, value: string): string {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  throw ApiError.badRequest(`the header ${name} has bytes that are no UTF-8`);
}
