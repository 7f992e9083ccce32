import { type ClaimReference, sameClaim } from "./claim-key.ts";

/** A claim with what may be done by it. */
export interface ClaimedVerbs extends ClaimReference {
  readonly verbs: readonly string[];
}

/**
 * The verbs that a claim gives: those of the binding's claim that the first claim of the export about the same has too.
 * As in kcp, `*` is compared like any other: `*` on one side and `get` on the other have nothing in common.
 *
 * @param claims The claims of the export
 */
export function grantedVerbs(claim: ClaimedVerbs, claims: readonly ClaimedVerbs[]): ReadonlySet<string> {
  const exported = claims.find((other) => sameClaim(claim, other));
  return new Set(claim.verbs.filter((verb) => exported?.verbs.includes(verb) === true));
}

/** Whether granted verbs hold one, or `*`. */
export function verbIsGranted(verb: string, granted: ReadonlySet<string>): boolean {
  return granted.has(verb) || granted.has("*");
}
