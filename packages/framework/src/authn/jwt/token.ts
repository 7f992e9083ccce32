import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject, memberOf, parseJson } from "@virtual-workspaces/apimachinery";
import { ALGORITHMS } from "./algorithms.ts";
import { Refusal } from "./refusal.ts";

/** The longest token that is looked at, characters. */
const LONGEST_TOKEN = 64 * 1024;
/** What a token may hold, whatever its length: it is read before anybody has vouched for it. */
const LIMITS = { names: 2_000, containers: 10_000 };
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** What a token says. Nobody has vouched for it yet. */
export interface UnverifiedToken {
  readonly text: string;
  /** The URL of the issuer that `iss` names; "" if there is none. */
  readonly issuer: string;
  readonly header: { readonly alg: string; readonly kid: string | undefined };
  readonly claims: JsonObject;
}

/** Whether a bearer token is of the form of a JWT, whatever is in it. */
export function isCompact(token: string): boolean {
  return token.length > LONGEST_TOKEN ? token.startsWith("eyJ") : COMPACT.test(token);
}

/**
 * Reads a token in three parts. What readers could take for different things is refused: two claims of a name, a header
 * that asks for more than a signature (`crit`). Where a header says that its key is (`jku`, `x5u`, `jwk`) is not looked at.
 *
 * @throws Refusal
 */
export function readToken(text: string): UnverifiedToken {
  if (text.length > LONGEST_TOKEN) throw new Refusal(`it is longer than ${LONGEST_TOKEN} characters`);
  const [, head = "", body = ""] = COMPACT.exec(text) ?? [];
  const claims = jsonOf(body, "claims");
  const issuer = memberOf(claims, "iss");
  const url = typeof issuer === "string" ? (ALIASES.get(issuer) ?? issuer) : "";
  return { text, issuer: url, header: headerOf(jsonOf(head, "header")), claims };
}

/** What an issuer writes in its tokens instead of its URL. */
const ALIASES: ReadonlyMap<string, string> = new Map([["accounts.google.com", "https://accounts.google.com"]]);

function headerOf(header: JsonObject): UnverifiedToken["header"] {
  const { alg, kid } = { alg: memberOf(header, "alg"), kid: memberOf(header, "kid") };
  if (typeof alg !== "string" || !ALGORITHMS.has(alg)) throw new Refusal("its algorithm is none that is taken");
  if (Object.hasOwn(header, "crit")) throw new Refusal("its header has critical extensions, which are not known here");
  if (kid !== undefined && typeof kid !== "string") throw new Refusal("its key id is no text");
  return { alg, kid };
}

function jsonOf(part: string, what: string): JsonObject {
  const bytes = Buffer.from(part, "base64url");
  if (!isUtf8(bytes)) throw new Refusal(`its ${what} are not UTF-8`);
  const { value, duplicates } = parsed(bytes.toString("utf8"), what);
  if (duplicates.length > 0) throw new Refusal(`its ${what} name a member twice`);
  if (!isJsonObject(value)) throw new Refusal(`its ${what} are no JSON object`);
  return value;
}

function parsed(text: string, what: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(`its ${what} are no JSON object`);
    if (error instanceof RangeError) throw new Refusal(`its ${what} hold too much`);
    throw error;
  }
}
