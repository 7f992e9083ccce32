import { HOPS_HEADER } from "@virtual-workspaces/framework";
import type { ResponseHeaders } from "@virtual-workspaces/transport";

/** What is about the connection to the other server, and not about its answer. */
const CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
  HOPS_HEADER.toLowerCase(),
]);

/** The headers of an answer that are passed on, by name, a character a byte. */
export function answerHeaders(headers: ResponseHeaders): [string, string | string[]][] {
  const { connection } = headers;
  const listed = new Set([connection ?? []].flat().flatMap((line) => line.toLowerCase().split(/\s*,\s*/)));
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || CONNECTION.has(name) || listed.has(name) ? [] : [[name, value]],
  );
}
