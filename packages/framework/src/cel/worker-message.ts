import type { Finding } from "./compiled-rule.ts";
import type { RulePlace } from "./site-rules.ts";

/** A site whose rules are to be evaluated elsewhere. */
export interface WorkerSite {
  readonly place: RulePlace;
  /** Equal for equal places. */
  readonly id: string;
  readonly values: { readonly self: unknown; readonly oldSelf: unknown };
}

/** For each rule of a site what it says. */
export type SiteFindings = readonly (Finding | undefined)[];
