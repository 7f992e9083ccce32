import { isUtf8 } from "node:buffer";
import { isClusterName, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf, parseJson } from "@virtual-workspaces/apimachinery/json";

/** Prefix of the flat claims of a service account's token in a Secret. */
export const LEGACY_CLAIM_PREFIX = "kubernetes.io/serviceaccount/";

/** Returns the logical cluster that the payload of a service account's token names, verified or not; `undefined` if none. */
export function tokenCluster(payload: JsonObject): string | undefined {
  const nested = memberOf(payload, "kubernetes.io");
  const name =
    (isJsonObject(nested) ? memberOf(nested, "clusterName") : undefined) ??
    memberOf(payload, `${LEGACY_CLAIM_PREFIX}clusterName`);
  return typeof name === "string" && isClusterName(name) ? name : undefined;
}

/** Maximum length of a token, in characters; longer ones are not parsed. */
const LONGEST_TOKEN = 64 * 1024;
/** Limits of a parsed part, which is not verified yet. */
const LIMITS = { names: 500, containers: 500 };
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** Parts of a token. Security: its signature is not verified yet. */
export interface UnverifiedToken {
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly payload: JsonObject;
}

/**
 * Parses a signed token in three parts (JWS compact form). Returns `undefined` for anything else. Security: ambiguous tokens
 * are rejected too: those with a duplicate member, or a header with `crit`. Key locations in the header (`jku`, `x5u`, `jwk`)
 * are ignored.
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
