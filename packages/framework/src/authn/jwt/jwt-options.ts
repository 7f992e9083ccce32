import type { Dial } from "@virtual-workspaces/transport";
import type { Log } from "../../observe/log/log.ts";

/** Issuer of accepted tokens, and the mapping of claims to a user: Kubernetes' `JWTAuthenticator`. */
export interface JwtAuthenticator {
  readonly issuer: JwtIssuer;
  /** Rules that the claims must all satisfy. @default only issuer, audience and dates are checked */
  readonly claimValidationRules?: readonly ClaimValidationRule[];
  readonly claimMappings: ClaimMappings;
  /** Rules that the mapped user must all satisfy, such as no name that begins with `system:`. @default none */
  readonly userValidationRules?: readonly UserValidationRule[];
}

/** Issuer of tokens. An empty {@link discoveryURL} or {@link certificateAuthority} counts as unset, as in Kubernetes. */
export interface JwtIssuer {
  /**
   * Exact value of `iss`. An `https` URL: the location of its keys is discovered at `{url}/.well-known/openid-configuration`.
   * With {@link keys} it may be any text.
   */
  readonly url: string;
  /** URL of the discovery document, if it is elsewhere. The document must still name {@link url} as its `issuer`. */
  readonly discoveryURL?: string;
  /** PEM of the only authorities trusted for the issuer's TLS certificate. @default Node's authorities */
  readonly certificateAuthority?: string;
  /** Accepted audiences: `aud` must hold one of them. Security: tokens for other audiences are rejected. */
  readonly audiences: readonly string[];
  /** Required with several audiences. */
  readonly audienceMatchPolicy?: "MatchAny";
  /**
   * Public keys of the issuer, as a JSON Web Key Set or as PEM (keys or certificates); none are fetched then. Not part of
   * Kubernetes' file.
   * @default fetched from the issuer
   */
  readonly keys?: JwtKeys;
}

/** Public keys of an issuer. Keys that cannot verify signatures are skipped. */
export type JwtKeys = string | { readonly keys: readonly Readonly<Record<string, unknown>>[] };

/** Either a claim with a required value, or an expression. */
export interface ClaimValidationRule {
  readonly claim?: string;
  /** @default "" */
  readonly requiredValue?: string;
  /** CEL expression over `claims` that must be true. */
  readonly expression?: string;
  /** Message that is logged when the expression is false. */
  readonly message?: string;
}

/** Mapping from claims to the fields of a user. */
export interface ClaimMappings {
  /**
   * Name of the user. An empty result is rejected. An expression that uses `claims.email` must also use
   * `claims.email_verified` somewhere. The claim `email` is rejected when `email_verified` exists and is not true.
   */
  readonly username: PrefixedClaimOrExpression;
  /**
   * Groups of the user, from a string or a list of strings. Security: without a prefix, the issuer can put users into any
   * group, including `system:masters`.
   */
  readonly groups?: PrefixedClaimOrExpression;
  readonly uid?: ClaimOrExpression;
  readonly extra?: readonly ExtraMapping[];
}

/** Either a claim, with a prefix, or an expression. */
export interface PrefixedClaimOrExpression {
  readonly claim?: string;
  /** Prefix of the claim's value. Required with a claim; "" is no prefix. */
  readonly prefix?: string;
  /** CEL expression over `claims`. */
  readonly expression?: string;
}

/** Either a claim or an expression. */
export interface ClaimOrExpression {
  readonly claim?: string;
  /** CEL expression over `claims`. */
  readonly expression?: string;
}

/** Extra attribute of the user. */
export interface ExtraMapping {
  /** Key in lower case with a domain prefix, such as `example.com/tenant`. */
  readonly key: string;
  /** CEL expression over `claims` that yields a string or a list of strings. */
  readonly valueExpression: string;
}

/** Rule that a user must satisfy. */
export interface UserValidationRule {
  /** CEL expression that must be true, over `user` with `username`, `uid`, `groups` and `extra`. */
  readonly expression: string;
  /** Message that is logged when the expression is false. */
  readonly message?: string;
}

/** Settings for token checks that Kubernetes' file does not have. Durations are whole numbers, or `Infinity`. */
export interface JwtSettings {
  /**
   * Logger for rejected tokens (`info`, a few lines a second at most) and failed key fetches (`warn`). It receives issuer,
   * key id and reason, never a token or a claim's value.
   * @default `warn` records become process warnings
   */
  readonly log?: Log;
  /**
   * How long a token is accepted after its expiry, in ms, to allow for clock skew. A token is always accepted 5 minutes
   * before it becomes valid, as in Kubernetes.
   * @default 0
   */
  readonly clockSkew?: number;
  /** Age at which keys are fetched again, in ms. A key that the issuer withdraws stays valid that long. @default 600000 */
  readonly refreshKeysEvery?: number;
  /** Shortest interval between two fetches from an issuer, in ms, whatever tokens arrive. @default 10000 */
  readonly fetchCooldown?: number;
  /** Timeout of a fetch from an issuer, in ms. @default 10000 */
  readonly fetchTimeout?: number;
  /**
   * Opens the connections to issuers, on which TLS is then established. Security: use it when tenants name issuers, so that
   * they cannot make the server reach internal addresses.
   * @default connects to the host of the URL
   */
  readonly dial?: Dial;
}
