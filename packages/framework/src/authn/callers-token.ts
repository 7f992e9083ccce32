import type { IncomingMessage } from "node:http";
import { utf8 } from "./headers.ts";

/** One of those that no client gets past a server with. */
const HEADER = "X-Remote-Token";
const NAME: string = HEADER.toLowerCase();

/**
 * Tells a server that {@link CoreOptions.takesCallersTokens} which bearer token the caller has brought, as flat pairs for `headers` of a
 * proxy; nothing of who has brought none. For a server of the same process alone: whoever reads it can do whatever the caller may.
 */
export function callersTokenHeaders(token: string | undefined): readonly string[] {
  return token === undefined ? [] : [HEADER, Buffer.from(token).toString("base64url")];
}

/** The token that {@link callersTokenHeaders} has said. */
export function callersToken({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [said, another] = headersDistinct[NAME] ?? [];
  if (said === undefined || another !== undefined) return undefined;
  return utf8(Buffer.from(said, "base64url").toString("latin1")) || undefined;
}
