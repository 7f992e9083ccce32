import { fieldDuplicate, fieldTooMany, formatCauses, type StatusCause } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { type Log, warningLog } from "../../observe/log/log.ts";
import { whole } from "../../util/numbers.ts";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict, type TokenVerifier } from "../bearer-tokens.ts";
import { MappingCompiler } from "./compiled.ts";
import type { JwtAuthenticator, JwtIssuer, JwtSettings } from "./jwt-options.ts";
import { FetchedKeys, givenKeys, type KeySource } from "./key-source.ts";
import { ClaimMapper } from "./mapping.ts";
import { isCompact, readToken, TokenRejection, TokenRejections, type UnverifiedToken } from "./token.ts";
import { issuerProblems } from "./validate-issuer.ts";

/** Why a token of somebody else is refused. */
export const UNKNOWN_ISSUER = "no issuer of this name is configured; they are compared to the letter";
/** As many as Kubernetes takes. */
const MOST_ISSUERS = 64;

/**
 * Takes JSON Web Tokens of one issuer or several (Kubernetes' structured authentication configuration): OpenID Connect id
 * tokens, for one. A token is judged by the issuer that its `iss` names and by no other: signed by one of that issuer's
 * keys with RS, PS or ES 256 to 512, for one of its audiences, not expired (`exp` is required), and by its rules. Of all
 * others' tokens it has no opinion. A verdict is remembered for 10 s, never beyond `exp`.
 *
 * Keys are fetched with the first token. While an issuer cannot be asked, the keys that it gave before are good; before it
 * gave any, its tokens are nobody's, and others' are not affected. Distributed claims are not supported: tokens whose
 * groups would have to be fetched are refused.
 *
 * @throws Error that names each field at fault as Kubernetes does: `jwt[0].issuer.url: Required value`; and on a time
 *   in `settings` that is none
 */
export function jwt(
  authenticators: JwtAuthenticator | readonly JwtAuthenticator[],
  settings: JwtSettings = {},
): TokenAuthenticator {
  return bearerTokens({
    name: "jwt",
    verify: jwtVerifier("issuer" in authenticators ? [authenticators] : authenticators, settings),
  });
}

/** The same, which remembers no verdict. @throws Error as {@link jwt} does */
export function jwtVerifier(
  authenticators: readonly JwtAuthenticator[],
  settings: JwtSettings,
): TokenVerifier["verify"] {
  const causes: StatusCause[] = [];
  const log = settings.log ?? warningLog;
  const issuers = issuersOf(authenticators, { ...settings, log }, causes);
  if (causes.length > 0) throw new Error(formatCauses(causes));
  const judge = new Judge(issuers, log);
  return (token) => (isCompact(token) ? judge.verdictOn(token) : undefined);
}

/** By what `iss` must be. */
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

/** In Kubernetes' file what is empty is not given. */
function withoutEmpty({ discoveryURL = "", certificateAuthority = "", ...rest }: JwtIssuer): JwtIssuer {
  return { ...rest, ...(discoveryURL && { discoveryURL }), ...(certificateAuthority && { certificateAuthority }) };
}

/** Finds the issuer of a token. Each tells of its own refusals, so that a flood of others' does not drown them. */
class Judge {
  readonly #issuers: Issuers;
  readonly #strange: TokenRejections;

  constructor(issuers: Issuers, log: Log) {
    this.#issuers = issuers;
    this.#strange = new TokenRejections(log);
  }

  readonly verdictOn = async (text: string): Promise<TokenVerdict | undefined> => {
    let token: UnverifiedToken | undefined;
    let issuer: Issuer | undefined;
    try {
      token = readToken(text);
      issuer = this.#issuers.get(token.issuer);
      if (issuer === undefined) throw new TokenRejection(UNKNOWN_ISSUER);
      return await issuer.verdictOn(token);
    } catch (error) {
      if (!(error instanceof TokenRejection)) throw error;
      const { refusals = this.#strange } = issuer ?? {};
      refusals.tell({ issuer: token?.issuer, keyId: token?.header.kid, reason: error.message });
      return undefined;
    }
  };
}

/** How early a token is taken: as OpenID Connect providers and Kubernetes do. */
const EARLY = 5 * 60_000;

interface IssuerParts {
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  readonly mapper: ClaimMapper;
  /** ms */
  readonly clockSkew: number;
  readonly refusals: TokenRejections;
}

/** Somebody whose tokens are taken. */
class Issuer {
  readonly #parts: IssuerParts;
  /** Told why its tokens are refused. */
  readonly refusals: TokenRejections;

  constructor(parts: IssuerParts) {
    this.#parts = parts;
    this.refusals = parts.refusals;
  }

  /** Whose token this is: what costs least is asked first. @throws Refusal */
  async verdictOn(token: UnverifiedToken): Promise<TokenVerdict> {
    const expiresAt = this.#end(token);
    this.#checkStart(token);
    this.#checkAudience(token);
    if (!(await this.#isSigned(token))) throw new TokenRejection("no key of its issuer has signed it");
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
      throw new TokenRejection("claim aud is neither a text nor a list of texts");
    if (!this.#parts.audiences.some((one) => all.includes(one)))
      throw new TokenRejection("it is meant for others: claim aud");
  }

  /** Keys that have not signed it may be old. */
  async #isSigned(token: UnverifiedToken): Promise<boolean> {
    const { keys } = this.#parts;
    const known = await keys.current();
    if (await known.hasSigned(token)) return true;
    const others = await keys.others(known);
    return others !== undefined && (await others.hasSigned(token));
  }
}

/** A time in ms since 1970. */
function seconds(value: unknown, claim: string): number {
  if (value === undefined) throw new TokenRejection(`claim ${claim} is missing`);
  if (typeof value !== "number" && typeof value !== "bigint") throw new TokenRejection(`claim ${claim} is no number`);
  return Number(value) * 1000;
}
