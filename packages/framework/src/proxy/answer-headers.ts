import type { ResponseHeaders } from "@virtual-workspaces/transport";
import { HOPS_HEADER } from "../request/hops.ts";

/** What is about the connection to the other server, and not about its answer. */
const CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
  HOPS_HEADER.toLowerCase(),
]);

/**
 * Tells the headers of an answer that are passed on, by name, a character a byte.
 *
 * @param location what is said in place of its `Location`, if it has one
 */
export function tellHeaders(
  headers: ResponseHeaders,
  location: string,
  tell: (name: string, value: string | string[]) => void,
): void {
  const listed = listedBy(headers["connection"]);
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || CONNECTION.has(name) || listed?.has(name) === true) continue;
    tell(name, name === "location" ? Buffer.from(location, "utf8").toString("latin1") : value);
  }
}

/** What a `Connection` header says to be about it; nothing, of most. */
function listedBy(connection: string | string[] | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  return new Set([connection].flat().flatMap((line) => line.toLowerCase().split(/\s*,\s*/)));
}
