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

/** The longest token that is asked about, bytes: what waits is kept, and a header could be 1 MiB. */
const LONGEST_TOKEN = 32 * 1024;
const GROUP = "authentication.k8s.io";

/** Who knows the tokens. */
export interface TokenReviewOptions extends ReviewOptions {
  /**
   * The API server that reviews tokens, asked with its own `credentials`: they need the ClusterRole `system:auth-delegator`
   * there, and can find out whose any token is. It is sent every token that nobody before it in `authentication` knows: use
   * `https://`. One made of options is closed with the authenticator, one that is given is not.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** The logical cluster in which it is asked, by name or path. @default the upstream's URL as it is */
  readonly cluster?: string;
  /**
   * For whom tokens must be, one of these at least: `spec.audiences`. A server that does not say for whom a token is has then
   * accepted none. Without, a token that was made for the other server is good here, and whoever runs this one could use it
   * there. @default whatever that server takes
   */
  readonly audiences?: readonly string[];
  /**
   * What callers are told whom nobody knows while the other server is away, slow or overwhelmed: `unknown`, 401, as in
   * Kubernetes, on which clients ask people to log in; or `unavailable`, 503, on which they try again. @default "unknown"
   */
  readonly away?: "unknown" | "unavailable";
}

/** An authenticator that asks another server. Dispose of it after the server that uses it. */
export interface TokenReviewAuthenticator extends TokenAuthenticator, AsyncDisposable {
  readonly stats: ReviewStats;
}

interface Verdict {
  readonly found: TokenVerdict | undefined;
}

/**
 * Bearer tokens that another API server knows (Kubernetes' delegated authentication, `--authentication-kubeconfig`): its
 * TokenReview says whose they are, with uid, groups and extra. Verdicts are remembered under the token's SHA-256, for no
 * longer than a JSON Web Token itself says that it lives; yes and no apart, so that made-up tokens drive out no good ones.
 * Requests with one token share one review. A server that cannot be asked, or answers something else, decides nothing: that
 * is a failure, logged, and the next authenticator is asked; those who are remembered stay known. No token is kept, logged
 * or part of an error. Tokens above 32 KiB are nobody's.
 *
 * @throws Error on options that are out of range, and on `audiences` without one
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
    throw new Error("token review: audiences must not be empty: name one, or leave it out");
  const { upstream, [Symbol.asyncDispose]: close } = opened(options.upstream);
  const reviewer = new Reviewer(settings);
  const verdicts = new Verdicts<Verdict>({
    ...settings,
    isYes: ({ found }) => found !== undefined,
    holds: ({ found }) => (found?.expiresAt === undefined ? Number.POSITIVE_INFINITY : found.expiresAt - Date.now()),
    onError: () => undefined, // thrown to the server, which logs it
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

/** What a caller is told who may well be known. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof ReviewFailure && error.transient)) return error;
  const { status } = ApiError.serviceUnavailable("who the caller is cannot be found out for now: try again", 1);
  return new ApiError(status, { cause: error });
}

interface AskedToken {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly from: string;
}

/** @throws ReviewFailure on a status that says neither yes nor no, or yes to nobody */
function verdictOf(status: JsonObject, { token, audiences, from }: AskedToken): TokenVerdict | undefined {
  const failure = (text: string): ReviewFailure =>
    new ReviewFailure(`${from}: a TokenReview was answered that cannot be used: ${text}`, { transient: false });
  const { authenticated = false, audiences: granted = [], user } = status;
  if (typeof authenticated !== "boolean") throw failure("authenticated is neither true nor false");
  if (!authenticated) return undefined;
  if (!Array.isArray(granted)) throw failure("its audiences are no list");
  if (audiences.length > 0 && !audiences.some((one) => granted.includes(one))) return undefined;
  try {
    const expiresAt = expiryOf(token);
    return { user: userOf(user), ...(expiresAt === undefined ? {} : { expiresAt }) };
  } catch (error) {
    throw failure((error as Error).message);
  }
}

/**
 * Whom a token review names. That somebody is logged in who is called nobody is a contradiction.
 *
 * @throws Error on what is no user
 */
function userOf(value: unknown): User {
  if (!isJsonObject(value)) throw new Error("there is no user in it");
  const { username: name, uid = "", groups = [], extra = {} } = value;
  if (typeof name !== "string" || name === "") throw new Error("its user has no name");
  if (typeof uid !== "string") throw new Error("the uid of its user is no text");
  if (!isTexts(groups)) throw new Error("the groups of its user are no list of texts");
  if (!isExtra(extra)) throw new Error("the extra of its user is no map of lists of texts");
  if (name === ANONYMOUS || groups.includes(UNAUTHENTICATED)) throw new Error("its user is nobody who has logged in");
  return authenticatedUser({ name, uid, groups, extra });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isExtra(value: unknown): value is JsonObject & Readonly<Record<string, readonly string[]>> {
  return isJsonObject(value) && Object.values(value).every(isTexts);
}

/**
 * When a token ends by its own word, ms since 1970, if it is a JSON Web Token and has one. Nobody has checked the signature:
 * good for nothing but to forget it earlier.
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
