import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject, memberOf, parseJson } from "@virtual-workspaces/apimachinery";

/** The longest token that is looked at, characters. */
const LONGEST_TOKEN = 64 * 1024;
/** What a part may hold: it is read before anybody has vouched for it. */
const LIMITS = { names: 500, containers: 500 };
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** A token in its parts. Nobody has vouched for it yet. */
export interface UnverifiedToken {
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly payload: JsonObject;
}

/**
 * Reads a signed token in three parts (JWS compact form). `undefined` for all else, and for what readers could take for
 * different things: a member that comes twice, a header that asks for more than a signature (`crit`). Where a header says
 * that its key is (`jku`, `x5u`, `jwk`) is not looked at.
 */
export function parseToken(token: string): UnverifiedToken | undefined {
  if (token.length > LONGEST_TOKEN) return undefined;
  const [, head = "", body = ""] = COMPACT.exec(token) ?? [];
  const [header, payload] = [objectOf(head), objectOf(body)];
  if (header === undefined || payload === undefined || Object.hasOwn(header, "crit")) return undefined;
  const [algorithm, kid] = [memberOf(header, "alg"), memberOf(header, "kid")];
  if (typeof algorithm !== "string" || (kid !== undefined && typeof kid !== "string")) return undefined;
  return { algorithm, kid, payload };
}

function objectOf(part: string): JsonObject | undefined {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.length === 0 || !isUtf8(bytes)) return undefined;
  try {
    const { value, duplicates } = parseJson(bytes.toString("utf8"), LIMITS);
    return duplicates.length === 0 && isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
