import { BudgetError } from "./cost/budget.ts";
import type { Expression } from "./expression.ts";
import type { LazyExpressions } from "./lazy-expressions.ts";

/**
 * Evaluates conditions: a false one decides, whatever others fail.
 *
 * @param conditions expressions, or the errors of those that do not compile
 * @throws Error with Kubernetes' text when some fail and none is false; BudgetError when the steps are used up
 */
export function conditionsHold(
  conditions: readonly (Expression | Error)[],
  evaluate: (expression: Expression) => unknown,
): boolean {
  const failed: string[] = [];
  for (const condition of conditions) {
    if (condition instanceof Error) {
      failed.push(condition.message);
      continue;
    }
    try {
      if (evaluate(condition) !== true) return false;
    } catch (error) {
      if (error instanceof BudgetError) throw error;
      failed.push(`expression '${condition.source}' resulted in error: ${(error as Error).message}`);
    }
  }
  if (failed.length > 0) throw new Error(failed.length === 1 ? failed[0] : `[${failed.join(", ")}]`);
  return true;
}

/** Match conditions of Kubernetes: CEL expressions that must all be true. Compiled with the first request that needs them. */
export class MatchConditions {
  readonly #compiler: LazyExpressions;
  readonly #sources: readonly string[];
  #compiled: readonly (Expression | Error)[] | undefined;

  /** @param compiler declares the variables @param sources expressions of type bool */
  constructor(compiler: LazyExpressions, sources: readonly string[]) {
    this.#compiler = compiler;
    this.#sources = sources;
  }

  /** Whether there is no condition. */
  get isEmpty(): boolean {
    return this.#sources.length === 0;
  }

  /**
   * Evaluates the conditions: a false one decides, whatever others fail.
   *
   * @param values values of the variables
   * @throws Error when some fail and none is false
   */
  hold(values: Readonly<Record<string, unknown>>): boolean {
    this.#compiled ??= this.#sources.map((source) => this.#compile(source));
    return conditionsHold(this.#compiled, (expression) => expression.evaluate({ ...values }));
  }

  #compile(source: string): Expression | Error {
    const result = this.#compiler.compile(source.trim(), "bool");
    return "problem" in result ? new Error(result.problem) : result.expression;
  }
}
