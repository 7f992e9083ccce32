import { whole } from "../util/numbers.ts";
import type { Awaitable } from "../storage.ts";
import type { User } from "../request/user.ts";
import type { Authenticator } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { Verdicts } from "./verdicts.ts";

/** What a token turned out to be. */
export interface TokenVerdict {
  readonly user: User;
  /** When the token ends, ms since 1970: no verdict is remembered beyond that. @default never */
  readonly expiresAt?: number;
}

/** Somebody who knows tokens of one kind: all that {@link bearerTokens} needs. */
export interface TokenVerifier {
  /** For logs. */
  readonly name: string;
  /**
   * Whose token this is. `undefined`: not one of this verifier's, or no longer good; the next authenticator is asked. A
   * throw is a failure of the verifier, logged and counted as no opinion, but for an `ApiError` 503 (see {@link
   * Authenticator}). Requests with one token share one call, so it is told of no request: bound its time yourself.
   *
   * @param token as it was sent, UTF-8 decoded, never empty
   */
  verify(token: string): Awaitable<TokenVerdict | undefined>;
  /** How long a yes is remembered, ms; 0 is not at all, `Infinity` until it ends. A no never is. @default 10000, as in Kubernetes */
  readonly remember?: number;
}

/** An authenticator by bearer tokens (Kubernetes' `authenticator.Token`): whoever answers a TokenReview asks it too. */
export interface TokenAuthenticator extends Authenticator {
  /** Whose token this is, however it came. @throws what the verifier throws */
  authenticateToken(token: string): Awaitable<User | undefined>;
}

/**
 * Takes tokens from `Authorization: Bearer`, or, for browsers, which cannot set headers of a WebSocket, from the
 * subprotocol that Kubernetes takes them from. At most 10,000 verdicts are remembered, each under its token's SHA-256:
 * the tokens themselves are not kept.
 *
 * @throws Error when `remember` is no time
 */
export function bearerTokens({ name, verify, remember = 10_000 }: TokenVerifier): TokenAuthenticator {
  const authenticateToken = whole("remember", remember, 0) > 0 ? new Verdicts(verify, remember).of : userBy(verify);
  return {
    name,
    authenticateToken,
    authenticate: (request) => {
      const token = bearerToken(request);
      return token === undefined ? undefined : authenticateToken(token);
    },
  };
}

function userBy(verify: TokenVerifier["verify"]): TokenAuthenticator["authenticateToken"] {
  return (token) => {
    const verdict = verify(token);
    return verdict instanceof Promise ? verdict.then((settled) => settled?.user) : verdict?.user;
  };
}
