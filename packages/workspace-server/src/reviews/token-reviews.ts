import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "@virtual-workspaces/framework";
import { type TokenAuthenticator, takesTokens } from "@virtual-workspaces/framework/authn";
import { reviewedUser, type TokenReviewContent, type TokenReviewStatus } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Scope, Storage, WriteOptions } from "@virtual-workspaces/framework/storage";
import type { AudienceAuthenticator, ReviewedToken } from "../tokens/authenticator.ts";
import { TokenRefused } from "../tokens/claims.ts";
import { failureOf } from "./access-reviews.ts";

/** Options of {@link TokenReviews}. */
export interface TokenReviewOptions {
  /** Authenticators of the server, in order. Those without token support are skipped, since a review has no client certificate. */
  readonly authenticators: readonly Authenticator[];
  /** Returns further authenticators of the logical cluster of the review. @default none */
  readonly logins?: ((cluster: string) => readonly TokenAuthenticator[]) | undefined;
  /** Audiences of this server: those of tokens without audiences, and of reviews that name none. */
  readonly audiences: readonly string[];
  /** Log of authenticator failures. */
  readonly log: Log;
}

/**
 * Returns the user that a token authenticates in the logical cluster of the review (TokenReview). An authenticator without
 * audiences stands for all of the server's. Security: users who may create TokenReviews can test tokens.
 */
export class TokenReviews implements Storage<ObjectOf<TokenReviewContent>> {
  /** Reviews are not stored. */
  readonly lifecycle = "storage";
  readonly #options: TokenReviewOptions;

  constructor(options: TokenReviewOptions) {
    this.#options = options;
  }

  /** @throws ApiError 400 without a token */
  async create(
    { params }: Scope,
    { apiVersion, kind, spec = {} }: ObjectOf<TokenReviewContent>,
    options: WriteOptions,
  ): Promise<ObjectOf<TokenReviewContent>> {
    const { token = "", audiences = [] } = spec;
    if (token === "") throw ApiError.badRequest("token is required for TokenReview in authentication");
    const wanted = audiences.length > 0 ? audiences : this.#options.audiences;
    const status = await this.#status({ token, audiences: wanted, cluster: params["cluster"] ?? "" }, options);
    return { apiVersion, kind, metadata: {}, spec, status };
  }

  async #status({ token, audiences, cluster }: Reviewed, options: WriteOptions): Promise<TokenReviewStatus> {
    const errors = new Set<string>();
    const { authenticators, logins } = this.#options;
    const all = [...authenticators, ...(logins?.(cluster) ?? [])].filter(takesTokens);
    for (const authenticator of all) {
      try {
        const found = await this.#ask(authenticator, token, audiences);
        if (found !== undefined)
          return { authenticated: true, user: reviewedUser(found.user), audiences: found.audiences };
        errors.add("invalid bearer token");
      } catch (error) {
        errors.add(error instanceof TokenRefused ? error.message : failureOf(error, options, this.#options.log));
      }
    }
    for (const authenticator of all) authenticator.unrecognized?.(token);
    const [first = "invalid bearer token", ...more] = errors;
    return { user: {}, error: more.length === 0 ? first : `[${[first, ...more].join(", ")}]` };
  }

  async #ask(
    authenticator: TokenAuthenticator,
    token: string,
    wanted: readonly string[],
  ): Promise<ReviewedToken | undefined> {
    if (knowsAudiences(authenticator)) return authenticator.reviewToken(token, wanted);
    const audiences = this.#options.audiences.filter((one) => wanted.includes(one));
    if (audiences.length === 0) return undefined;
    const user = await authenticator.authenticateToken(token);
    return user && { user, audiences };
  }
}

interface Reviewed {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly cluster: string;
}

function knowsAudiences(authenticator: TokenAuthenticator): authenticator is AudienceAuthenticator {
  return typeof (authenticator as Partial<AudienceAuthenticator>).reviewToken === "function";
}
