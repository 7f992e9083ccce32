import { answerMessages } from "../worker/answer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { RuleCompiler } from "./site-rules.ts";
import type { SiteFindings, WorkerSite } from "./worker-message.ts";

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
