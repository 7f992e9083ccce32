import type { IncomingMessage } from "node:http";
import { utf8 } from "./headers.ts";

/** Kubernetes' subprotocol for tokens of browsers: behind the last dot the token, base64url without padding. */
export const SUBPROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** The bearer token of a request; the scheme in any case, as Kubernetes reads it. `undefined`: none, or none that is UTF-8. */
export function bearerToken({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return subprotocolToken(headers);
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return utf8(withoutBlanks(authorization.slice(7))) || undefined;
}

/** Without what HTTP takes for blanks. Node gives bytes as characters: more than that may be the end of a letter. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function subprotocolToken(headers: IncomingMessage["headers"]): string | undefined {
  const protocols = headers["sec-websocket-protocol"];
  if (protocols === undefined || headers.upgrade === undefined) return undefined;
  const offered = protocols.split(",").map((one) => one.trim());
  const encoded = offered.filter((one) => one.startsWith(SUBPROTOCOL)).map((one) => one.slice(SUBPROTOCOL.length));
  // Kubernetes takes the first; two are nobody's.
  if (encoded.length !== 1) return undefined;
  return utf8(Buffer.from(encoded[0] as string, "base64url").toString("latin1")) || undefined;
}
