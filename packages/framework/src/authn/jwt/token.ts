import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf, parseJson } from "@virtual-workspaces/apimachinery/json";
import type { Log } from "../../observe/log/log.ts";

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
  if (text.length > LONGEST_TOKEN) throw new TokenRejection(`it is longer than ${LONGEST_TOKEN} characters`);
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
  if (typeof alg !== "string" || !ALGORITHMS.has(alg)) throw new TokenRejection("its algorithm is none that is taken");
  if (Object.hasOwn(header, "crit"))
    throw new TokenRejection("its header has critical extensions, which are not known here");
  if (kid !== undefined && typeof kid !== "string") throw new TokenRejection("its key id is no text");
  return { alg, kid };
}

function jsonOf(part: string, what: string): JsonObject {
  const bytes = Buffer.from(part, "base64url");
  if (!isUtf8(bytes)) throw new TokenRejection(`its ${what} are not UTF-8`);
  const { value, duplicates } = parsed(bytes.toString("utf8"), what);
  if (duplicates.length > 0) throw new TokenRejection(`its ${what} name a member twice`);
  if (!isJsonObject(value)) throw new TokenRejection(`its ${what} are no JSON object`);
  return value;
}

function parsed(text: string, what: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof SyntaxError) throw new TokenRejection(`its ${what} are no JSON object`);
    if (error instanceof RangeError) throw new TokenRejection(`its ${what} hold too much`);
    throw error;
  }
}

/** What signs with an algorithm. */
export interface Algorithm {
  readonly kty: "RSA" | "EC";
  /** Of elliptic curves. */
  readonly crv?: string;
}

const RSA: Algorithm = { kty: "RSA" };

/** Kubernetes' algorithms, all with public keys: what is signed with a shared secret, or not at all, is nobody's. */
export const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((name) => [name, RSA] as const),
  ["ES256", { kty: "EC", crv: "P-256" }],
  ["ES384", { kty: "EC", crv: "P-384" }],
  ["ES512", { kty: "EC", crv: "P-521" }],
]);

/** Why a token is refused, in words that hold nothing of it. */
export class TokenRejection extends Error {
  override readonly name = "Refusal";
}

/** Lines at once, and for how long (ms) each one counts. */
const BURST = 10;
const PER_LINE = 1000;
/** What strangers send is shown no longer than this. */
const SHOWN = 200;

interface RefusedToken {
  /** What the token says, unverified. */
  readonly issuer?: string | undefined;
  readonly keyId?: string | undefined;
  readonly reason: string;
}

/** Tells of refused tokens: why somebody is nobody is what is asked most about tokens. Floods are counted, not told. */
export class TokenRejections {
  readonly #log: Log;
  #lines = BURST;
  #countedAt = performance.now();
  #untold = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  tell({ issuer, keyId, reason }: RefusedToken): void {
    const now = performance.now();
    this.#lines = Math.min(BURST, this.#lines + (now - this.#countedAt) / PER_LINE);
    this.#countedAt = now;
    if (this.#lines < 1) {
      this.#untold += 1;
      return;
    }
    this.#lines -= 1;
    const untold = this.#untold === 0 ? {} : { untold: this.#untold };
    this.#untold = 0;
    const token = {
      ...(issuer !== undefined && { issuer: cut(issuer) }),
      ...(keyId !== undefined && { keyId: cut(keyId) }),
    };
    this.#log({ level: "info", message: "token refused", ...token, reason, ...untold });
  }
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
