import { answerMessages } from "../util/worker/worker-answer.ts";
import { type CompiledRule, type Finding, RuleCompiler, type RulePlace } from "./compiled-rule.ts";

/** Sites whose rules a worker evaluates. */
export interface WorkerTask {
  /** Distinct locations, each with any number of sites: an array of thousands is one location. */
  readonly places: readonly WorkerPlace[];
  readonly sites: readonly WorkerSite[];
}

export interface WorkerPlace extends RulePlace {
  /** Equal for equal locations. */
  readonly id: string;
}

export interface WorkerSite {
  /** Index of the location. */
  readonly place: number;
  readonly self: unknown;
  readonly oldSelf: unknown;
}

/** Result of each rule of a site. */
export type SiteFindings = readonly (Finding | undefined)[];

/** Number of compiled locations that are cached. */
const KEPT = 100;

const compiler = new RuleCompiler();
const compiled = new Map<string, readonly CompiledRule[]>();

/** Returns the compiled rules of a location; equal locations are compiled once. */
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
