import { memberOf } from "@virtual-workspaces/apimachinery";
import type { TokenVerdict } from "../bearer-tokens.ts";
import type { KeySource } from "./key-source.ts";
import type { ClaimMapper } from "./mapping.ts";
import type { UnverifiedToken } from "./token.ts";
import { Refusal, type Refusals } from "./token.ts";

/** How early a token is taken: as OpenID Connect providers and Kubernetes do. */
const EARLY = 5 * 60_000;

export interface IssuerParts {
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  readonly mapper: ClaimMapper;
  /** ms */
  readonly clockSkew: number;
  readonly refusals: Refusals;
}

/** Somebody whose tokens are taken. */
export class Issuer {
  readonly #parts: IssuerParts;
  /** Told why its tokens are refused. */
  readonly refusals: Refusals;

  constructor(parts: IssuerParts) {
    this.#parts = parts;
    this.refusals = parts.refusals;
  }

  /** Whose token this is: what costs least is asked first. @throws Refusal */
  async verdictOn(token: UnverifiedToken): Promise<TokenVerdict> {
    const expiresAt = this.#end(token);
    this.#checkStart(token);
    this.#checkAudience(token);
    if (!(await this.#isSigned(token))) throw new Refusal("no key of its issuer has signed it");
    return { user: this.#parts.mapper.userOf(token.claims), expiresAt };
  }

  #end({ claims }: UnverifiedToken): number {
    const end = seconds(memberOf(claims, "exp"), "exp") + this.#parts.clockSkew;
    if (Date.now() > end) throw new Refusal("it has expired");
    return end;
  }

  #checkStart({ claims }: UnverifiedToken): void {
    if (!Object.hasOwn(claims, "nbf")) return;
    const early = Math.max(EARLY, this.#parts.clockSkew);
    if (Date.now() + early < seconds(claims["nbf"], "nbf")) throw new Refusal("it is not valid yet");
  }

  #checkAudience({ claims }: UnverifiedToken): void {
    const audience = memberOf(claims, "aud");
    const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
    if (!all.every((one) => typeof one === "string"))
      throw new Refusal("claim aud is neither a text nor a list of texts");
    if (!this.#parts.audiences.some((one) => all.includes(one))) throw new Refusal("it is meant for others: claim aud");
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
  if (value === undefined) throw new Refusal(`claim ${claim} is missing`);
  if (typeof value !== "number" && typeof value !== "bigint") throw new Refusal(`claim ${claim} is no number`);
  return Number(value) * 1000;
}
