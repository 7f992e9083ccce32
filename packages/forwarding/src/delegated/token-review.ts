import { hash } from "node:crypto";
import { ApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { User } from "@virtual-workspaces/framework";
import {
  ANONYMOUS,
  authenticatedUser,
  bearerTokens,
  type TokenAuthenticator,
  type TokenVerdict,
  UNAUTHENTICATED,
} from "@virtual-workspaces/framework/authn";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import { opened, prefixOf, type ReviewOptions, resolved } from "./review-options.ts";
import { Reviewer, ReviewFailure } from "./reviewer.ts";
import type { ReviewStats } from "./verdicts.ts";
import { Verdicts } from "./verdicts.ts";

/** Maximum size of a token to review, in bytes: waiting tokens use memory, and a header may have 1 MiB. */
const LONGEST_TOKEN = 32 * 1024;
const GROUP = "authentication.k8s.io";

/** Options of {@link tokenReview}. */
export interface TokenReviewOptions extends ReviewOptions {
  /**
   * API server that reviews tokens. Security: its `credentials` need the ClusterRole `system:auth-delegator` there, and can
   * find out the user of any token. It receives every token that no earlier authenticator in `authentication` accepts, so use
   * `https://`. The authenticator closes an upstream that it creates from options, but not one that the caller passes.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** Logical cluster to review in, by name or path. @default the upstream's URL as is */
  readonly cluster?: string;
  /**
   * Required audiences of tokens, at least one of these: `spec.audiences`. A server that returns no audiences has accepted
   * none. Security: without them, tokens for the other server work here, and the operator of this server could use them
   * there.
   * @default audiences of the other server
   */
  readonly audiences?: readonly string[];
  /**
   * Response to unauthenticated callers while the other server is away, slow or overloaded: `unknown` is 401, as in
   * Kubernetes, and makes clients prompt for a login; `unavailable` is 503, and makes them retry.
   * @default "unknown"
   */
  readonly away?: "unknown" | "unavailable";
}

/** Authenticator that sends reviews to another server. Dispose of it after the server that uses it. */
export interface TokenReviewAuthenticator extends TokenAuthenticator, AsyncDisposable {
  readonly stats: ReviewStats;
}

interface Verdict {
  readonly found: TokenVerdict | undefined;
}

/**
 * Creates an authenticator that delegates bearer tokens to another API server (Kubernetes' delegated authentication,
 * `--authentication-kubeconfig`) through TokenReviews, with uid, groups and extra. Verdicts are cached under the token's
 * SHA-256, no longer than a JSON Web Token's own expiry. Positive and negative ones are separate, so that invalid tokens do
 * not evict valid ones. Requests with one token share a review. If the server is unavailable or its response is invalid, that
 * is logged and the next authenticator decides; cached users stay authenticated. Security: no token is stored, logged or part
 * of an error. Tokens above 32 KiB are rejected.
 *
 * @throws Error for options out of range, and for empty `audiences`
 *
 * @example
 * ```ts
 * import { createServer } from "@virtual-workspaces/framework";
 * import { tokenReview } from "@virtual-workspaces/forwarding";
 *
 * const upstream = { url: "https://kcp.example.dev:6443" }; // with tls and credentials
 * const server = createServer({ virtualWorkspaces: [], authentication: [tokenReview({ upstream, cluster: "root" })] });
 * ```
 * @see docs/how-to/delegation.md
 */
export function tokenReview(options: TokenReviewOptions): TokenReviewAuthenticator {
  const settings = resolved("token review", options);
  const { cluster = "", audiences = [], away = "unknown" } = options;
  if (options.audiences?.length === 0)
    throw new Error("token review: audiences is empty: set at least one, or omit it");
  const { upstream, [Symbol.asyncDispose]: close } = opened(options.upstream);
  const reviewer = new Reviewer(settings);
  const verdicts = new Verdicts<Verdict>({
    ...settings,
    isYes: ({ found }) => found !== undefined,
    holds: ({ found }) => (found?.expiresAt === undefined ? Number.POSITIVE_INFINITY : found.expiresAt - Date.now()),
    onError: () => undefined, // the server logs what is thrown
  });
  const about = { upstream, prefix: prefixOf(cluster), group: GROUP, kind: "TokenReview", plural: "tokenreviews" };

  const review = async (token: string, signal: AbortSignal): Promise<Verdict> => {
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    const status = await reviewer.ask({ ...about, spec }, signal);
    return { found: verdictOf(status, { token, audiences, from: upstream.url }) };
  };
  const authenticator = bearerTokens({
    name: "token review",
    remember: 0,
    verify: (token) => {
      if (token.length > LONGEST_TOKEN) return undefined;
      const key = hash("sha256", token, "base64");
      const known = verdicts.known(key);
      if (known !== undefined) return known.found;
      return verdicts
        .find(key, (signal) => review(token, signal))
        .then(({ found }) => found)
        .catch((error: unknown) => {
          throw away === "unavailable" ? unavailable(error) : error;
        });
    },
  });
  return {
    ...authenticator,
    get stats() {
      return { ...verdicts.stats, ...reviewer.stats };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the error for a caller who may have a valid token. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof ReviewFailure && error.transient)) return error;
  const { status } = ApiError.serviceUnavailable(
    "the server that authenticates the caller is unavailable: try again",
    1,
  );
  return new ApiError(status, { cause: error });
}

interface AskedToken {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly from: string;
}

/** @throws ReviewFailure for a status without a verdict, or that authenticates no user */
function verdictOf(status: JsonObject, { token, audiences, from }: AskedToken): TokenVerdict | undefined {
  const failure = (text: string): ReviewFailure =>
    new ReviewFailure(`${from}: the TokenReview in the response is invalid: ${text}`, { transient: false });
  const { authenticated = false, audiences: granted = [], user } = status;
  if (typeof authenticated !== "boolean") throw failure("authenticated is not a boolean");
  if (!authenticated) return undefined;
  if (!Array.isArray(granted)) throw failure("its audiences are not a list");
  if (audiences.length > 0 && !audiences.some((one) => granted.includes(one))) return undefined;
  try {
    const expiresAt = expiryOf(token);
    return { user: userOf(user), ...(expiresAt === undefined ? {} : { expiresAt }) };
  } catch (error) {
    throw failure((error as Error).message);
  }
}

/**
 * Returns the user of a review. An authenticated user that is anonymous is a contradiction.
 *
 * @throws Error for an invalid user
 */
function userOf(value: unknown): User {
  if (!isJsonObject(value)) throw new Error("it has no user");
  const { username: name, uid = "", groups = [], extra = {} } = value;
  if (typeof name !== "string" || name === "") throw new Error("its user has no name");
  if (typeof uid !== "string") throw new Error("the uid of its user is not a string");
  if (!isTexts(groups)) throw new Error("the groups of its user are not a list of strings");
  if (!isExtra(extra)) throw new Error("the extra of its user is not a map of lists of strings");
  if (name === ANONYMOUS || groups.includes(UNAUTHENTICATED)) throw new Error("its user is anonymous");
  return authenticatedUser({ name, uid, groups, extra });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isExtra(value: unknown): value is JsonObject & Readonly<Record<string, readonly string[]>> {
  return isJsonObject(value) && Object.values(value).every(isTexts);
}

/**
 * Returns the expiry in a JSON Web Token, in ms since 1970. Security: the signature is unverified, so it may only shorten the
 * cache time.
 */
function expiryOf(token: string): number | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString("utf8"));
    const exp = isJsonObject(claims) ? claims["exp"] : undefined;
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
