import { hash } from "node:crypto";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { User } from "@virtual-workspaces/framework";
import { authenticatedUser, bearerTokens, type TokenAuthenticator } from "@virtual-workspaces/framework/authn";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { CLUSTER_NAME_EXTRA, parseToken, SCOPES_EXTRA, type UnverifiedToken } from "@virtual-workspaces/kcp/users";
import {
  type Claims,
  CREDENTIAL_ID_EXTRA,
  claimsOf,
  groupsOf,
  LEGACY_ISSUER,
  TokenRefused,
  userNameOf,
} from "./claims.ts";
import type { ServiceAccountKeys } from "./keys.ts";
import { type AccountLookup, Liveness } from "./liveness.ts";
import { DEFAULT_ISSUER } from "./minter.ts";

/** User of a token, and those of the requested audiences that it is meant for. */
export interface ReviewedToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Authenticator that knows the audiences of tokens and the reason of a rejection, for TokenReviews. */
export interface AudienceAuthenticator extends TokenAuthenticator {
  /**
   * Returns the user of a token; `undefined` for another kind of token.
   *
   * @param audiences the token must be meant for one of these; the result has those that match
   * @throws TokenRefused on an invalid token of this kind
   */
  reviewToken(token: string, audiences: readonly string[]): Awaitable<ReviewedToken | undefined>;
}

/** Options of {@link serviceAccountTokens}. */
export interface ServiceAccountTokenOptions {
  readonly keys: ServiceAccountKeys;
  readonly accounts: AccountLookup;
  /** Accepted issuers; the first one issues (`--service-account-issuer`). @default `[DEFAULT_ISSUER]` */
  readonly issuers?: readonly string[];
  /** Audiences of this server (`--api-audiences`); tokens for others are rejected. @default the issuers */
  readonly audiences?: readonly string[];
  /** Returns ms since 1970. @default the system clock */
  readonly now?: () => number;
}

/**
 * Authenticates tokens of service accounts, from TokenRequests and Secrets. Every request checks the account and the Secret
 * in the logical cluster that the token names. Tokens of deleted or replaced ones are therefore rejected at once. The user has Kubernetes' name, uid and groups, and the account's logical cluster in the extra
 * `authentication.kcp.io/cluster-name`. Security: without a check of that extra, accounts of other workspaces would pass for
 * local ones. The verified signatures of at most 10,000 tokens are remembered.
 */
export function serviceAccountTokens(options: ServiceAccountTokenOptions): AudienceAuthenticator {
  const { keys, accounts, issuers = [DEFAULT_ISSUER], audiences = issuers, now = Date.now } = options;
  const signatures = new Signatures(keys, issuers);
  const liveness = new Liveness(accounts, now);
  const reviewToken: AudienceAuthenticator["reviewToken"] = async (token, wanted) => {
    const claims = await signatures.claims(token);
    if (claims === undefined) return undefined;
    const meant = claims.form === "legacy" || claims.audiences.length === 0 ? audiences : claims.audiences;
    const shared = meant.filter((one) => wanted.includes(one));
    if (shared.length === 0)
      throw new TokenRefused(`token audiences ${listed(meant)} is invalid for the target audiences ${listed(wanted)}`);
    await liveness.check(token, claims);
    return { user: userOf(claims), audiences: shared };
  };
  const verify = async (token: string): Promise<{ readonly user: User } | undefined> => {
    try {
      return await reviewToken(token, audiences);
    } catch (error) {
      if (error instanceof TokenRefused) return undefined;
      throw error;
    }
  };
  return { ...bearerTokens({ name: "service accounts", verify, remember: 0 }), reviewToken };
}

function userOf(claims: Claims): User {
  const { account } = claims;
  const id = claims.form === "bound" ? claims.id : "";
  return authenticatedUser({
    name: userNameOf(account),
    uid: account.uid,
    groups: groupsOf(account),
    extra: {
      [CLUSTER_NAME_EXTRA]: [account.cluster],
      [SCOPES_EXTRA]: [`cluster:${account.cluster}`],
      ...(id !== "" && { [CREDENTIAL_ID_EXTRA]: [`JTI=${id}`] }),
    },
  });
}

/** Formats texts like Go's `%v`. */
function listed(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** Maximum of remembered tokens, about 1 KiB each; the least recently used one goes first. */
const MOST = 10_000;

/** Verifies signatures of tokens. Good ones are remembered by the token's SHA-256; the account's existence is checked elsewhere. */
class Signatures {
  readonly #keys: ServiceAccountKeys;
  readonly #issuers: ReadonlySet<unknown>;
  /** In order of use, the oldest first. */
  readonly #known = new Map<string, Claims>();

  /** @param issuers accepted issuers, besides that of tokens in Secrets */
  constructor(keys: ServiceAccountKeys, issuers: readonly string[]) {
    this.#keys = keys;
    this.#issuers = new Set([...issuers, LEGACY_ISSUER]);
  }

  /** Returns the claims of a token; `undefined` for a foreign issuer. @throws TokenRefused on a bad signature */
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
