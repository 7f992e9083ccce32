import { fieldDuplicate, fieldTooMany, formatCauses, type StatusCause } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { type Log, warningLog } from "../../observe/log/log.ts";
import { whole } from "../../util/numbers.ts";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict, type TokenVerifier } from "../bearer-tokens.ts";
import { MappingCompiler } from "./compiled.ts";
import type { JwtAuthenticator, JwtIssuer, JwtSettings } from "./jwt-options.ts";
import { FetchedKeys, givenKeys, type KeySource } from "./key-source.ts";
import { ClaimMapper } from "./mapping.ts";
import {
  isCompact,
  type RefusedToken,
  readToken,
  TokenRejection,
  TokenRejections,
  type UnverifiedToken,
} from "./token.ts";
import { issuerProblems } from "./validate-issuer.ts";

/** Reason for rejecting a token of an unknown issuer. */
export const UNKNOWN_ISSUER = "no issuer with this name is configured: names are compared exactly";
/** Limit of issuers, the same as Kubernetes'. */
const MOST_ISSUERS = 64;

/**
 * Authenticates JSON Web Tokens, such as OpenID Connect id tokens, of one or more issuers (Kubernetes' structured
 * authentication configuration). Only the issuer that `iss` names judges a token: one of its keys
 * must have signed it by RS, PS or ES 256 to 512. It must be for one of the issuer's audiences, not be expired (`exp` is
 * required), and satisfy the rules.
 * There is no opinion on tokens of other issuers. A verdict is cached for 10 s, never beyond `exp`.
 *
 * Keys are fetched with the first token. While an issuer is unreachable, its last keys stay valid; before the first fetch
 * succeeds, its tokens are rejected and other issuers are unaffected. Distributed claims are not supported: tokens whose
 * groups would have to be fetched are rejected.
 *
 * @throws Error that names each invalid field as Kubernetes does: `jwt[0].issuer.url: Required value`; also on an invalid
 * duration in `settings`
 */
export function jwt(
  authenticators: JwtAuthenticator | readonly JwtAuthenticator[],
  settings: JwtSettings = {},
): TokenAuthenticator {
  return bearerTokens({
    name: "jwt",
    ...jwtVerifier("issuer" in authenticators ? [authenticators] : authenticators, settings),
  });
}

/** The verifier of {@link jwt}, which caches no verdict. @throws Error as {@link jwt} does */
export function jwtVerifier(
  authenticators: readonly JwtAuthenticator[],
  settings: JwtSettings,
): Required<Pick<TokenVerifier, "verify" | "unrecognized">> {
  const causes: StatusCause[] = [];
  const log = settings.log ?? warningLog;
  const issuers = issuersOf(authenticators, { ...settings, log }, causes);
  if (causes.length > 0) throw new Error(formatCauses(causes));
  const judge = new Judge(issuers, log);
  return {
    verify: (token) => (isCompact(token) ? judge.verdictOn(token) : undefined),
    unrecognized: (token) => (isCompact(token) ? judge.tellUnknown(token) : undefined),
  };
}

/** Issuers by the value of `iss`. */
type Issuers = ReadonlyMap<string, Issuer>;

function issuersOf(
  all: readonly JwtAuthenticator[],
  settings: JwtSettings & { readonly log: Log },
  causes: StatusCause[],
): Issuers {
  const issuers = new Map<string, Issuer>();
  if (all.length > MOST_ISSUERS) causes.push(fieldTooMany("jwt", all.length, MOST_ISSUERS));
  const discoveryUrls = new Set<string>();
  const clockSkew = whole("clockSkew", settings.clockSkew ?? 0, 0);
  for (const [at, one] of all.slice(0, MOST_ISSUERS).entries()) {
    const path = `jwt[${at}]`;
    const given = withoutEmpty(one.issuer);
    const { url, discoveryURL, audiences, keys } = given;
    const problems = issuerProblems(given, `${path}.issuer`);
    causes.push(...problems);
    const mapper = new ClaimMapper(one, new MappingCompiler(path, causes).compile(one));
    if (issuers.has(url)) causes.push(fieldDuplicate(`${path}.issuer.url`, url));
    if (discoveryURL !== undefined) {
      if (discoveryUrls.has(discoveryURL)) causes.push(fieldDuplicate(`${path}.issuer.discoveryURL`, discoveryURL));
      discoveryUrls.add(discoveryURL);
    }
    if (problems.length > 0) continue;
    const source = keys === undefined ? new FetchedKeys(given, settings) : givenKeys(keys);
    issuers.set(
      url,
      new Issuer({ audiences, keys: source, mapper, clockSkew, refusals: new TokenRejections(settings.log) }),
    );
  }
  return issuers;
}

/** An empty field in Kubernetes' file counts as unset. */
function withoutEmpty({ discoveryURL = "", certificateAuthority = "", ...rest }: JwtIssuer): JwtIssuer {
  return { ...rest, ...(discoveryURL && { discoveryURL }), ...(certificateAuthority && { certificateAuthority }) };
}

/** Finds the issuer of a token. Each has its own log limit, so that a flood for one does not hide another's. */
class Judge {
  readonly #issuers: Issuers;
  readonly #strange: TokenRejections;

  constructor(issuers: Issuers, log: Log) {
    this.#issuers = issuers;
    this.#strange = new TokenRejections(log);
  }

  async verdictOn(text: string): Promise<TokenVerdict | undefined> {
    const found = this.#find(text);
    if ("reason" in found) return undefined; // another authenticator may know it
    const { token, issuer } = found;
    try {
      return await issuer.verdictOn(token);
    } catch (error) {
      if (!(error instanceof TokenRejection)) throw error;
      issuer.refusals.tell({ issuer: token.issuer, keyId: token.header.kid, reason: error.message });
      return undefined;
    }
  }

  /** Logs why a token is of none of the issuers. */
  tellUnknown(text: string): void {
    const found = this.#find(text);
    if ("reason" in found) this.#strange.tell(found);
  }

  #find(text: string): Judged | RefusedToken {
    try {
      const token = readToken(text);
      const issuer = this.#issuers.get(token.issuer);
      if (issuer !== undefined) return { token, issuer };
      return { issuer: token.issuer, keyId: token.header.kid, reason: UNKNOWN_ISSUER };
    } catch (error) {
      if (!(error instanceof TokenRejection)) throw error;
      return { reason: error.message };
    }
  }
}

/** Token of a configured issuer. */
interface Judged {
  readonly token: UnverifiedToken;
  readonly issuer: Issuer;
}

/** How long before `nbf` a token is accepted, in ms, as OpenID Connect providers and Kubernetes do. */
const EARLY = 5 * 60_000;

interface IssuerParts {
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  readonly mapper: ClaimMapper;
  /** in ms */
  readonly clockSkew: number;
  readonly refusals: TokenRejections;
}

/** Issuer whose tokens are accepted. */
class Issuer {
  readonly #parts: IssuerParts;
  /** Log of rejected tokens. */
  readonly refusals: TokenRejections;

  constructor(parts: IssuerParts) {
    this.#parts = parts;
    this.refusals = parts.refusals;
  }

  /** Returns the user of a token. Cheap checks run first. @throws TokenRejection */
  async verdictOn(token: UnverifiedToken): Promise<TokenVerdict> {
    const expiresAt = this.#end(token);
    this.#checkStart(token);
    this.#checkAudience(token);
    if (!(await this.#isSigned(token))) throw new TokenRejection("signature matches no key of its issuer");
    return { user: this.#parts.mapper.userOf(token.claims), expiresAt };
  }

  #end({ claims }: UnverifiedToken): number {
    const end = seconds(memberOf(claims, "exp"), "exp") + this.#parts.clockSkew;
    if (Date.now() > end) throw new TokenRejection("it has expired");
    return end;
  }

  #checkStart({ claims }: UnverifiedToken): void {
    if (!Object.hasOwn(claims, "nbf")) return;
    const early = Math.max(EARLY, this.#parts.clockSkew);
    if (Date.now() + early < seconds(claims["nbf"], "nbf")) throw new TokenRejection("it is not valid yet");
  }

  #checkAudience({ claims }: UnverifiedToken): void {
    const audience = memberOf(claims, "aud");
    const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
    if (!all.every((one) => typeof one === "string"))
      throw new TokenRejection("claim aud must be a string or a list of strings");
    if (!this.#parts.audiences.some((one) => all.includes(one)))
      throw new TokenRejection("audience is not accepted: claim aud");
  }

  /** If no key matches, the keys may be outdated. */
  async #isSigned(token: UnverifiedToken): Promise<boolean> {
    const { keys } = this.#parts;
    const known = await keys.current();
    if (await known.hasSigned(token)) return true;
    const others = await keys.others(known);
    return others !== undefined && (await others.hasSigned(token));
  }
}

/** Converts a NumericDate claim to ms since 1970. */
function seconds(value: unknown, claim: string): number {
  if (value === undefined) throw new TokenRejection(`claim ${claim} is missing`);
  if (typeof value !== "number" && typeof value !== "bigint")
    throw new TokenRejection(`claim ${claim} must be a number`);
  return Number(value) * 1000;
}
