import { hash } from "node:crypto";
import { memberOf } from "@virtual-workspaces/apimachinery";
import { type Claims, claimsOf, LEGACY_ISSUER } from "./claims.ts";
import type { ServiceAccountKeys } from "./keys.ts";
import { parseToken, type UnverifiedToken } from "./claims.ts";
import { TokenRefused } from "./claims.ts";

/** The most tokens that are remembered, a kilobyte each or so. The one that was not used for longest goes first. */
const MOST = 10_000;

/**
 * Who has signed which tokens. That a signature is good is remembered, under the token's SHA-256; whether the account is
 * still there is not known here.
 */
export class Signatures {
  readonly #keys: ServiceAccountKeys;
  readonly #issuers: ReadonlySet<unknown>;
  /** In the order of use. */
  readonly #known = new Map<string, Claims>();

  /** @param issuers whose tokens these keys have signed, besides those in Secrets */
  constructor(keys: ServiceAccountKeys, issuers: readonly string[]) {
    this.#keys = keys;
    this.#issuers = new Set([...issuers, LEGACY_ISSUER]);
  }

  /** What a token says. `undefined`: it is not one of ours. @throws TokenRefused when it says so, but is not signed by us */
  async claims(token: string): Promise<Claims | undefined> {
    const key = hash("sha256", token, "base64");
    const known = this.#known.get(key);
    if (known !== undefined) return this.#keep(key, known);
    const unverified = parseToken(token);
    if (unverified === undefined || !this.#issuers.has(memberOf(unverified.payload, "iss"))) return undefined;
    await this.#verify(token, unverified);
    return this.#keep(key, claimsOf(unverified.payload));
  }

  #keep(key: string, claims: Claims): Claims {
    this.#known.delete(key);
    this.#known.set(key, claims);
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value as string);
    return claims;
  }

  async #verify(token: string, { algorithm, kid }: UnverifiedToken): Promise<void> {
    const candidates = this.#keys.candidates(algorithm, kid);
    if (candidates.length === 0) throw new TokenRefused("invalid signature, no keys found");
    const { compactVerify, errors } = await import("jose");
    for (const candidate of candidates) {
      try {
        await compactVerify(token, candidate.key, { algorithms: [candidate.algorithm] });
        return;
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
      }
    }
    throw new TokenRefused("go-jose/go-jose: error in cryptographic primitive");
  }
}
