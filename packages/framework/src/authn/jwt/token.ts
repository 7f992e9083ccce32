import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf, parseJson } from "@virtual-workspaces/apimachinery/json";
import { cut, LimitedLog } from "../../observe/log/limited-log.ts";
import type { Log } from "../../observe/log/log.ts";

/** Limit of a token that is parsed, in characters. */
const LONGEST_TOKEN = 64 * 1024;
/** Limits of a token's content: it is parsed before its signature is verified. */
const LIMITS = { names: 2_000, containers: 10_000 };
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** Content of a token whose signature is not verified yet. */
export interface UnverifiedToken {
  readonly text: string;
  /** URL of the issuer that `iss` names; "" if missing. */
  readonly issuer: string;
  readonly header: { readonly alg: string; readonly kid: string | undefined };
  readonly claims: JsonObject;
}

/** Returns whether a bearer token has the form of a JWT, whatever its content. */
export function isCompact(token: string): boolean {
  return token.length > LONGEST_TOKEN ? token.startsWith("eyJ") : COMPACT.test(token);
}

/**
 * Parses a token in three parts. Ambiguous tokens are rejected: duplicate claims, and a header with critical extensions
 * (`crit`). Security: key locations in the header (`jku`, `x5u`, `jwk`) are ignored.
 *
 * @throws TokenRejection
 */
export function readToken(text: string): UnverifiedToken {
  if (text.length > LONGEST_TOKEN) throw new TokenRejection(`longer than ${LONGEST_TOKEN} characters`);
  const [, head = "", body = ""] = COMPACT.exec(text) ?? [];
  const claims = jsonOf(body, "claims");
  const issuer = memberOf(claims, "iss");
  const url = typeof issuer === "string" ? (ALIASES.get(issuer) ?? issuer) : "";
  return { text, issuer: url, header: headerOf(jsonOf(head, "header")), claims };
}

/** Values of `iss` that differ from the issuer's URL. */
const ALIASES: ReadonlyMap<string, string> = new Map([["accounts.google.com", "https://accounts.google.com"]]);

function headerOf(header: JsonObject): UnverifiedToken["header"] {
  const { alg, kid } = { alg: memberOf(header, "alg"), kid: memberOf(header, "kid") };
  if (typeof alg !== "string" || !ALGORITHMS.has(alg)) throw new TokenRejection("algorithm is not supported");
  if (Object.hasOwn(header, "crit"))
    throw new TokenRejection("header has critical extensions, which are not supported");
  if (kid !== undefined && typeof kid !== "string") throw new TokenRejection("key id must be a string");
  return { alg, kid };
}

function jsonOf(part: string, what: string): JsonObject {
  const bytes = Buffer.from(part, "base64url");
  if (!isUtf8(bytes)) throw new TokenRejection(`${what} are not UTF-8`);
  const { value, duplicates } = parsed(bytes.toString("utf8"), what);
  if (duplicates.length > 0) throw new TokenRejection(`${what} have a duplicate member`);
  if (!isJsonObject(value)) throw new TokenRejection(`${what} are not a JSON object`);
  return value;
}

function parsed(text: string, what: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof SyntaxError) throw new TokenRejection(`${what} are not a JSON object`);
    if (error instanceof RangeError) throw new TokenRejection(`${what} are too large`);
    throw error;
  }
}

/** Key type and curve that an algorithm needs. */
export interface Algorithm {
  readonly kty: "RSA" | "EC";
  /** Set for elliptic curves. */
  readonly crv?: string;
}

const RSA: Algorithm = { kty: "RSA" };

/** Kubernetes' algorithms, all with public keys. Security: tokens signed with a shared secret, or unsigned, are rejected. */
export const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((name) => [name, RSA] as const),
  ["ES256", { kty: "EC", crv: "P-256" }],
  ["ES384", { kty: "EC", crv: "P-384" }],
  ["ES512", { kty: "EC", crv: "P-521" }],
]);

/** Reason for rejecting a token. The message contains nothing of the token. */
export class TokenRejection extends Error {
  override readonly name = "Refusal";
}

/** Rejected token, for the log. */
export interface RefusedToken {
  /** Issuer that the token names, unverified. */
  readonly issuer?: string | undefined;
  readonly keyId?: string | undefined;
  readonly reason: string;
}

/** Logs rejected tokens, because users often ask why a token fails. */
export class TokenRejections {
  readonly #log: LimitedLog;

  constructor(log: Log) {
    this.#log = new LimitedLog(log);
  }

  tell({ issuer, keyId, reason }: RefusedToken): void {
    const token = {
      ...(issuer !== undefined && { issuer: cut(issuer) }),
      ...(keyId !== undefined && { keyId: cut(keyId) }),
    };
    this.#log.tell({ level: "info", message: "token rejected", ...token, reason });
  }
}
