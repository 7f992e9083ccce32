import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { IdentityHeaders } from "../authn/headers.ts";
import { KnownNames } from "../util/known-names.ts";

/**
 * Headers that are not forwarded: those of the connection, those that the proxy sets itself, and the client's claims about
 * its origin.
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
/** Identity headers that upstreams trust from a proxy: always stripped, in any spelling. */
const IDENTITY = new IdentityHeaders([]);

/** Cache of names of forwarded headers. */
const PASSED = new KnownNames((name) => {
  const lower = name.toLowerCase();
  return (
    !OURS.has(lower) && !lower.startsWith(FORWARDED) && !lower.startsWith(":") && !IDENTITY.has(lower) && lower !== ""
  );
});
const ASCII = /^[\t -~]*$/;

/**
 * Returns the headers to forward, as flat pairs, followed by the additional ones, which replace the client's headers of the
 * same names.
 *
 * @param said flat pairs
 * @throws ApiError 400 on a header that is not UTF-8
 */
export function passedHeaders(
  { headers: { connection }, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  said: readonly string[],
): string[] {
  const left = leftOut(connection, said);
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    // Not destructured from an array, which would be made for each line.
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    if (!PASSED.has(name) || left?.has(name.toLowerCase()) === true) continue;
    lines.push(name, ASCII.test(value) ? value : asText(name, value));
  }
  for (const text of said) lines.push(text);
  return lines;
}

/** Returns additional names to strip from this request; usually none. */
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

/** Node uses one character per byte. */
function asText(name: string, value: string): string {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  throw ApiError.badRequest(`invalid header ${name}: use UTF-8 only`);
}
