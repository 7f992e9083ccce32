import { answerMessages } from "../util/worker/worker-answer.ts";
import { type CompiledRule, type Finding, RuleCompiler, type RulePlace } from "./compiled-rule.ts";

/** Sites whose rules are to be evaluated elsewhere. */
export interface WorkerTask {
  /** Each once, however many sites it has: an array of thousands is at one place. */
  readonly places: readonly WorkerPlace[];
  readonly sites: readonly WorkerSite[];
}

export interface WorkerPlace extends RulePlace {
  /** Equal for equal places. */
  readonly id: string;
}

export interface WorkerSite {
  /** Which of the places. */
  readonly place: number;
  readonly self: unknown;
  readonly oldSelf: unknown;
}

/** For each rule of a site what it says. */
export type SiteFindings = readonly (Finding | undefined)[];

/** How many places of schemas are kept compiled. */
const KEPT = 100;

const compiler = new RuleCompiler();
const compiled = new Map<string, readonly CompiledRule[]>();

/** The rules of a place, compiled; equal places are compiled once. */
function rulesFor({ id, ...place }: WorkerPlace): readonly CompiledRule[] {
  const known = compiled.get(id) ?? compiler.compile(place);
  compiled.delete(id);
  compiled.set(id, known);
  if (compiled.size > KEPT) compiled.delete(compiled.keys().next().value ?? "");
  return known;
}

answerMessages<WorkerTask, readonly SiteFindings[]>(({ places, sites }) => {
  const known = places.map((place) => ({ place, rules: rulesFor(place) }));
  return sites.map(({ place: at, self, oldSelf }) => {
    const { place, rules } = known[at] as (typeof known)[number];
    const values = { self, oldSelf, schema: place.schema, resourceRoot: place.resourceRoot };
    return rules.map((rule) => (rule.appliesTo(values) ? rule.evaluate(values) : undefined));
  });
});
