import type { Dial } from "@virtual-workspaces/transport";
import type { Log } from "../../observe/log/log.ts";

/**
 * Whose tokens are taken, and what they say about a user: Kubernetes' `JWTAuthenticator`, as in the file of
 * `--authentication-config`.
 */
export interface JwtAuthenticator {
  readonly issuer: JwtIssuer;
  /** What must hold of the claims, all of it. @default nothing more than issuer, audience and dates */
  readonly claimValidationRules?: readonly ClaimValidationRule[];
  readonly claimMappings: ClaimMappings;
  /** What must hold of the user that the claims made: no name that begins with `system:`, for one. @default nothing */
  readonly userValidationRules?: readonly UserValidationRule[];
}

/** Who signs the tokens, and for whom. A {@link discoveryURL} or {@link certificateAuthority} that is empty is none, as in Kubernetes. */
export interface JwtIssuer {
  /**
   * What `iss` must be, to the letter. An `https` URL: where its keys are is asked at
   * `{url}/.well-known/openid-configuration`. With {@link keys} it may be any text.
   */
  readonly url: string;
  /** Where to ask instead; what is said there must still name {@link url} as its `issuer`. */
  readonly discoveryURL?: string;
  /** PEM of the authorities that the issuer's own certificate must come from, and no others. @default those of Node */
  readonly certificateAuthority?: string;
  /** `aud` must hold one of these. What is meant for others who trust the same issuer is not taken. */
  readonly audiences: readonly string[];
  /** Required with several audiences. */
  readonly audienceMatchPolicy?: "MatchAny";
  /**
   * Its public keys, as a JSON Web Key Set or as PEM (keys or certificates): it is then never asked for any. Not in
   * Kubernetes' file. @default they are fetched from the issuer
   */
  readonly keys?: JwtKeys;
}

/** Public keys of an issuer. Those that cannot check a signature are passed over. */
export type JwtKeys = string | { readonly keys: readonly Readonly<Record<string, unknown>>[] };

/** Either a claim that must be there with a value, or an expression. */
export interface ClaimValidationRule {
  readonly claim?: string;
  /** @default "" */
  readonly requiredValue?: string;
  /** CEL that must be true; it sees `claims`. */
  readonly expression?: string;
  /** Logged when the expression is false. */
  readonly message?: string;
}

/** Which claims are what of the user. */
export interface ClaimMappings {
  /**
   * A name that comes out empty is refused. Who reads `claims.email` in an expression must look at
   * `claims.email_verified` somewhere; the claim `email` is refused where `email_verified` is there and not true.
   */
  readonly username: PrefixedClaimOrExpression;
  /** A text or a list of texts. Without a prefix an issuer can put anybody into any group, `system:masters` included. */
  readonly groups?: PrefixedClaimOrExpression;
  readonly uid?: ClaimOrExpression;
  readonly extra?: readonly ExtraMapping[];
}

/** Either a claim, with a prefix, or an expression. */
export interface PrefixedClaimOrExpression {
  readonly claim?: string;
  /** Required with a claim, so that nobody forgets it; "" is none. */
  readonly prefix?: string;
  /** CEL over `claims`. */
  readonly expression?: string;
}

/** Either a claim or an expression. */
export interface ClaimOrExpression {
  readonly claim?: string;
  /** CEL over `claims`. */
  readonly expression?: string;
}

/** One more attribute of the user. */
export interface ExtraMapping {
  /** In lower case and with a domain in front: `example.com/tenant`. */
  readonly key: string;
  /** CEL over `claims`; a text or a list of texts. */
  readonly valueExpression: string;
}

/** What must hold of a user. */
export interface UserValidationRule {
  /** CEL that must be true; it sees `user` with `username`, `uid`, `groups` and `extra`. */
  readonly expression: string;
  /** Logged when it is false. */
  readonly message?: string;
}

/** How tokens are looked at, which Kubernetes' file does not say. Times are whole numbers, or `Infinity`. */
export interface JwtSettings {
  /**
   * Told why tokens are refused (`info`, a few lines a second at most) and that keys could not be fetched (`warn`). It
   * sees issuer, key id and reason, never a token or the value of a claim. @default warnings become process warnings
   */
  readonly log?: Log;
  /** How long a token is taken beyond its end, ms, for clocks that differ. One that is not yet valid is always taken 5 minutes early, as in Kubernetes. @default 0 */
  readonly clockSkew?: number;
  /** How old keys become before they are fetched again, ms: a key that the issuer withdraws is good for that long. @default 600000 */
  readonly refreshKeysEvery?: number;
  /** The least time between two fetches from an issuer, ms, whatever tokens come in. @default 10000 */
  readonly fetchCooldown?: number;
  /** How long an issuer may take to answer, ms. @default 10000 */
  readonly fetchTimeout?: number;
  /**
   * Opens the connections to issuers, on which TLS is then spoken: for issuers that others than the operator name, who must
   * not have the server ask what is only for the server. @default to wherever their URLs lead
   */
  readonly dial?: Dial;
}
