import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import {
  ApiError,
  formatCause,
  formatCauses,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import {
  compileSchema,
  defaultRuleSites,
  type RuleSite,
  ruleSites,
  type StructuralProblemsOptions,
  type StructuralSchema,
  structuralProblems,
} from "@virtual-workspaces/apimachinery/schema";
import type { CompiledRules, RuleEngine, RuleFindings } from "../cel/cel-rules.ts";
import { linearPattern } from "../cel/values/pattern.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { siblingModule, WorkerError } from "../util/worker/pool.ts";
import { writesStatus } from "./update.ts";
import type { CheckOptions } from "./write-rules.ts";

/** Errors after which CEL rules may not find what they expect (apiextensions' hasBlockingErr). */
const BLOCKING: ReadonlySet<StatusCause["reason"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const NOT_CHECKED: StatusCause = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

/** A compiled schema, shared by all kinds with this schema. */
export class SchemaRules {
  readonly #structural: StructuralSchema;
  readonly #rules: CompiledRules | undefined;

  /** @throws Error on a schema that Kubernetes rejects */
  constructor(schema: JsonSchema) {
    refuse(structuralProblems(schema, { pattern: linearPattern }));
    this.#structural = compileSchema(schema, { pattern: linearPattern });
    this.#rules = this.#structural.hasRules ? shared.engine.compile(schema) : undefined;
    if (this.#rules !== undefined) refuse(ruleProblems(schema, this.#rules));
  }

  prune(object: KubeObject): readonly string[] {
    return this.#structural.prune(object);
  }

  pruneUnknown(object: KubeObject): void {
    this.#structural.pruneUnknown(object);
  }

  fillDefaults(object: KubeObject): void {
    this.#structural.setDefaults(object);
  }

  problems(object: KubeObject, options: CheckOptions): Awaitable<readonly StatusCause[]> {
    const { before, part, metadata = [], request } = options;
    const causes =
      writesStatus(part) && before !== undefined
        ? this.#structural.validateStatus(object, before)
        : this.#structural.validate(object, before);
    if (this.#rules === undefined) return causes;
    if ([...metadata, ...causes].some(({ reason }) => BLOCKING.has(reason))) return [...causes, NOT_CHECKED];
    const found = this.#rules.evaluate(this.#structural.rules(object, before), { signal: request.signal });
    const all = (findings: RuleFindings): readonly StatusCause[] => {
      for (const warning of findings.warnings) request.warn?.(formatCause(warning));
      return [...causes, ...findings.causes];
    };
    return found instanceof Promise ? found.then(all, refuseLater) : all(found);
  }
}

/** Rejects with 429 when too many rules wait for a worker thread. */
function refuseLater(error: unknown): never {
  const isBusy = error instanceof WorkerError && error.fault === "busy";
  throw isBusy ? ApiError.tooManyRequests("too many writes are waiting for validation; try again", 1) : error;
}

function refuse(problems: readonly StatusCause[]): void {
  if (problems.length > 0) throw new Error(formatCauses(problems));
}

/**
 * Engine of all rules, loaded with the first schema that has any: most have none, and its library takes half as long to load
 * as everything else. Its threads end by themselves and do not keep the process alive.
 */
class SharedEngine {
  #engine: RuleEngine | undefined;

  get engine(): RuleEngine {
    if (this.#engine === undefined) {
      const file = fileURLToPath(siblingModule("../cel/cel-rules", import.meta.url));
      const module = createRequire(import.meta.url)(file) as typeof import("../cel/cel-rules.ts");
      this.#engine = new module.RuleEngine();
    }
    return this.#engine;
  }
}

const shared = new SharedEngine();

/**
 * Returns why an API server rejects a schema: the errors of {@link structuralProblems} or, without any, rules that do not
 * compile or would cost too much (apiextensions' validation of a CustomResourceDefinition). Patterns are RE2.
 *
 * @returns the causes, in Kubernetes' words, up to a thousand
 */
export function schemaProblems(
  schema: JsonSchema,
  options: Omit<StructuralProblemsOptions, "pattern"> = {},
): readonly StatusCause[] {
  const causes = structuralProblems(schema, { ...options, pattern: linearPattern });
  if (causes.length > 0 || ruleSites(schema).length === 0) return causes;
  return ruleProblems(schema, shared.engine.compile(schema, options), options);
}

/** Returns the errors of rules or, without any, the defaults that they reject. */
function ruleProblems(
  schema: JsonSchema,
  rules: CompiledRules,
  { path = "schema" }: Pick<StructuralProblemsOptions, "path"> = {},
): readonly StatusCause[] {
  if (rules.problems.length > 0) return rules.problems;
  const sites = [...defaultRuleSites(schema, { path, pattern: linearPattern })];
  const made = causesAtOnce(
    rules,
    sites.flatMap((of) => of.made),
  );
  if (made.length > 0) return made;
  return causesAtOnce(
    rules,
    sites.flatMap(({ kept }) => kept),
  );
}

/** Evaluates rules in this thread. Security: skips those that need a worker thread, which authors of schemas could keep busy. */
function causesAtOnce(rules: CompiledRules, sites: readonly RuleSite[]): readonly StatusCause[] {
  const found = rules.evaluate(sites, { signal: AbortSignal.abort() });
  if (!(found instanceof Promise)) return found.causes;
  found.catch(() => undefined);
  return [];
}
