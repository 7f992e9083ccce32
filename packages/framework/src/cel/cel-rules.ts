import { boundedCauses, type JsonSchema, type StatusCause } from "@virtual-workspaces/apimachinery";
import { type RuleSite, ruleSites, type StaticRuleSite } from "@virtual-workspaces/apimachinery/schema";
import type { Awaitable } from "../util/awaitable.ts";
import { siblingModule, WorkerError, WorkerPool } from "../util/worker/pool.ts";
import { type CompiledRule, RuleCompiler, type RulePlace } from "./compiled-rule.ts";
import { causeOf, exhausted, placeProblems, schemaBudget } from "./problems.ts";
import type { SiteFindings, WorkerPlace, WorkerSite, WorkerTask } from "./worker.ts";

/** Limit of in-place evaluation for one object, in units of about 100 ns: some 10 ms. */
const IN_PLACE = 100_000;

export interface CompileRulesOptions {
  /** Path of the schema in error messages. @default "schema" */
  readonly path?: string;
}

export interface EvaluateOptions {
  readonly signal?: AbortSignal;
}

/** Result of evaluating the rules of an object: at most a thousand causes of each kind. */
export interface RuleFindings {
  readonly causes: readonly StatusCause[];
  /** Failures of unchanged values, which may stay, as text for a Warning header. */
  readonly warnings: readonly StatusCause[];
}

export interface RuleEngineOptions {
  /** Time limit for the rules of one object in a worker, in ms. @default 2000 */
  readonly budget?: number;
}

/**
 * Evaluates `x-kubernetes-validations`. Cheap rules run in place. A rule that could take longer than some 10 ms, given
 * the sizes of the values, runs in a worker with a time limit. No schema and no object can thus stall the process.
 */
export class RuleEngine implements AsyncDisposable {
  readonly #compiler = new RuleCompiler();
  readonly #pool: WorkerPool<WorkerTask, readonly SiteFindings[]>;
  readonly #budget: number;

  constructor({ budget = 2000 }: RuleEngineOptions = {}) {
    this.#budget = budget;
    this.#pool = new WorkerPool({ module: siblingModule("worker", import.meta.url), name: "CEL rules" });
  }

  /** Compiles all rules of a schema. Errors are in `problems`, with Kubernetes' texts. */
  compile(schema: JsonSchema, { path = "schema" }: CompileRulesOptions = {}): CompiledRules {
    return new CompiledRules({
      schema,
      path,
      compiler: this.#compiler,
      elsewhere: async (task, signal) => this.#pool.run(task, { budget: this.#budget, signal }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}

interface CompiledRulesParts {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly compiler: RuleCompiler;
  readonly elsewhere: (task: WorkerTask, signal?: AbortSignal) => Promise<readonly SiteFindings[]>;
}

/** Compiled rules of a schema. They hold no data of objects, so equal schemas can share them. */
export class CompiledRules {
  /** Rules that do not compile or cost too much; Kubernetes rejects a schema with any. */
  readonly problems: readonly StatusCause[];
  readonly #compiler: RuleCompiler;
  readonly #elsewhere: CompiledRulesParts["elsewhere"];
  readonly #places = new WeakMap<JsonSchema, readonly CompiledRule[]>();
  readonly #ids = new WeakMap<JsonSchema, string>();

  constructor({ schema, path, compiler, elsewhere }: CompiledRulesParts) {
    this.#compiler = compiler;
    this.#elsewhere = elsewhere;
    const budget = schemaBudget();
    const places = ruleSites(schema);
    const problems = places.flatMap((place) => this.#placeProblems(place, path, budget));
    this.problems = [...problems, ...budget.problems(path)];
  }

  /**
   * Evaluates the rules at the sites of an object (`StructuralSchema.rules`). Returns a promise only if a worker is needed;
   * when that times out, the result is Kubernetes' error for an exceeded cost budget.
   */
  evaluate(sites: Iterable<RuleSite>, { signal }: EvaluateOptions = {}): Awaitable<RuleFindings> {
    const known = [...sites].map((site) => ({ site, rules: this.#rulesOf(site) }));
    if (isCheap(known)) {
      return compose(
        known.map((entry) => entry.site),
        known.map(({ site, rules }) => rules.map((rule) => (rule.appliesTo(site) ? rule.evaluate(site) : undefined))),
      );
    }
    return this.#evaluateElsewhere(
      known.map((entry) => entry.site),
      signal,
    );
  }

  async #evaluateElsewhere(sites: readonly RuleSite[], signal: AbortSignal | undefined): Promise<RuleFindings> {
    try {
      return compose(sites, await this.#elsewhere(this.#taskOf(sites), signal));
    } catch (error) {
      const [first] = sites;
      const isTooMuch = error instanceof WorkerError && (error.fault === "overrun" || error.isOutOfMemory);
      if (!isTooMuch || first === undefined) throw error;
      return { causes: [exhausted(first)], warnings: [] };
    }
  }

  #taskOf(sites: readonly RuleSite[]): WorkerTask {
    const places = new Map<JsonSchema, { readonly at: number; readonly place: WorkerPlace }>();
    const placed = sites.map((site): WorkerSite => {
      const { schema, rules, resourceRoot, self, oldSelf } = site;
      const { at } = places.get(schema) ?? { at: places.size };
      if (at === places.size) places.set(schema, { at, place: { schema, rules, resourceRoot, id: this.#idOf(site) } });
      return { place: at, self, oldSelf };
    });
    return { places: Array.from(places.values(), ({ place }) => place), sites: placed };
  }

  #placeProblems(place: StaticRuleSite, path: string, budget: ReturnType<typeof schemaBudget>): StatusCause[] {
    return placeProblems(place, this.#rulesOf(place), { path, budget });
  }

  #rulesOf({ rules, schema, resourceRoot }: RulePlace): readonly CompiledRule[] {
    const known = this.#places.get(schema);
    if (known !== undefined) return known;
    const compiled = this.#compiler.compile({ rules, schema, resourceRoot });
    this.#places.set(schema, compiled);
    return compiled;
  }

  #idOf({ schema, resourceRoot }: RulePlace): string {
    const known = this.#ids.get(schema) ?? JSON.stringify([resourceRoot, schema]);
    this.#ids.set(schema, known);
    return known;
  }
}

function isCheap(sites: readonly { readonly site: RuleSite; readonly rules: readonly CompiledRule[] }[]): boolean {
  let weight = 0;
  for (const { site, rules } of sites) {
    for (const rule of rules) {
      if (rule.appliesTo(site)) weight += rule.weigh(site);
      if (weight > IN_PLACE) return false;
    }
  }
  return true;
}

function compose(sites: readonly RuleSite[], findings: readonly SiteFindings[]): RuleFindings {
  const said = (mayStay: boolean): StatusCause[] => boundedCauses(causesOf(sites, findings, mayStay));
  return { causes: said(false), warnings: said(true) };
}

/** Yields the causes either for unchanged values, which may stay, or for all others. */
function* causesOf(
  sites: readonly RuleSite[],
  findings: readonly SiteFindings[],
  mayStay: boolean,
): Generator<StatusCause> {
  for (const [at, site] of sites.entries()) {
    for (const [index, finding] of (findings[at] ?? []).entries()) {
      const rule = site.rules[index];
      if (finding === undefined || rule === undefined) continue;
      const stays = finding.kind === "false" && !finding.usesOldSelf && site.unchanged;
      if (stays === mayStay) yield causeOf(site, rule, finding);
    }
  }
}
