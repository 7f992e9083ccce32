import { answerMessages } from "../worker/answer.ts";
import type { CompiledRule, Finding } from "./compiled-rule.ts";
import { RuleCompiler, type RulePlace } from "./site-rules.ts";

/** A site whose rules are to be evaluated elsewhere. */
export interface WorkerSite {
  readonly place: RulePlace;
  /** Equal for equal places. */
  readonly id: string;
  readonly values: { readonly self: unknown; readonly oldSelf: unknown };
}

/** For each rule of a site what it says. */
export type SiteFindings = readonly (Finding | undefined)[];

/** How many places of schemas are kept compiled. */
const KEPT = 100;

const compiler = new RuleCompiler();
const compiled = new Map<string, readonly CompiledRule[]>();

/** The rules of a place, compiled; equal places are compiled once. */
function rulesFor({ place, id }: WorkerSite): readonly CompiledRule[] {
  const known = compiled.get(id) ?? compiler.compile(place);
  compiled.delete(id);
  compiled.set(id, known);
  if (compiled.size > KEPT) compiled.delete(compiled.keys().next().value ?? "");
  return known;
}

answerMessages<readonly WorkerSite[], readonly SiteFindings[]>((sites) =>
  sites.map((site) => {
    const values = { ...site.values, schema: site.place.schema, resourceRoot: site.place.resourceRoot };
    return rulesFor(site).map((rule) => (rule.appliesTo(values) ? rule.evaluate(values) : undefined));
  }),
);
