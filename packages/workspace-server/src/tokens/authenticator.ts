import { hash } from "node:crypto";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { User } from "@virtual-workspaces/framework";
import { authenticatedUser, bearerTokens, type TokenAuthenticator } from "@virtual-workspaces/framework/authn";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA } from "@virtual-workspaces/kcp/users";
import {
  type Claims,
  CREDENTIAL_ID_EXTRA,
  claimsOf,
  groupsOf,
  LEGACY_ISSUER,
  parseToken,
  TokenRefused,
  type UnverifiedToken,
  userNameOf,
} from "./claims.ts";
import type { ServiceAccountKeys } from "./keys.ts";
import { type AccountLookup, Liveness } from "./liveness.ts";
import { DEFAULT_ISSUER } from "./minter.ts";

/** Whose a token is, and for whom it is meant of those who were asked for. */
export interface ReviewedToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** An authenticator that knows for whom tokens are meant, and says why one is not good: what a TokenReview asks. */
export interface AudienceAuthenticator extends TokenAuthenticator {
  /**
   * Whose a token is. `undefined`: not one of its kind.
   *
   * @param audiences for one of these it must be meant; it is answered for which
   * @throws TokenRefused when it is one of its kind, and not good
   */
  reviewToken(token: string, audiences: readonly string[]): Awaitable<ReviewedToken | undefined>;
}

/** What {@link serviceAccountTokens} takes. */
export interface ServiceAccountTokenOptions {
  readonly keys: ServiceAccountKeys;
  readonly accounts: AccountLookup;
  /** Whose tokens are taken: the first of them issues (`--service-account-issuer`). @default `[DEFAULT_ISSUER]` */
  readonly issuers?: readonly string[];
  /** Who this server is: tokens for others are not taken (`--api-audiences`). @default the issuers */
  readonly audiences?: readonly string[];
  /** ms since 1970. @default the clock */
  readonly now?: () => number;
}

/**
 * Takes tokens of service accounts, those of TokenRequests and those in Secrets. Each is checked against the account and
 * the Secret of the logical cluster that it names itself, for every request: what is deleted is out at once, and so is what
 * comes after under the same name. The user has the name, uid and groups as in Kubernetes, and says in the extra
 * `authentication.kcp.io/cluster-name` where the account is: without a look at that, accounts of other workspaces would
 * pass for one's own. Of at most 10,000 tokens it is remembered that they were signed by us.
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

/** As Go prints a list of texts. */
function listed(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** The most tokens that are remembered, a kilobyte each or so. The one that was not used for longest goes first. */
const MOST = 10_000;

/**
 * Who has signed which tokens. That a signature is good is remembered, under the token's SHA-256; whether the account is
 * still there is not known here.
 */
class Signatures {
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
