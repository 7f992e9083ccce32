import { Budget } from "./cost/budget.ts";
import type { Caps } from "./cost/size.ts";
import {
  type CompiledExpression,
  type Expression,
  type ExpressionCompiler,
  ExpressionError,
  type TypedEnvironment,
  VARIABLES,
  type WantedType,
} from "./expression.ts";
import { type AccessAnswer, type AccessCheck, AuthorizerValue, type RequestResource } from "./functions/authorizer.ts";
import { toJson } from "./values/json.ts";
import { LazyVariables } from "./values/lazy-variables.ts";
import { misplacedObject, ObjectValue, type PatchValue } from "./values/object-value.ts";

type Values = Readonly<Record<string, unknown>>;

/** Input of {@link ComposedExpressions.evaluation}. */
export interface EvaluationInput {
  /** JSON of the variables, by name. */
  readonly values: Values;
  /** Answers checks of the variable `authorizer`, at once. @default expressions that use it fail */
  readonly authorizer?: ExpressionAuthorizer;
}

/** Variable `authorizer` of an expression. */
export interface ExpressionAuthorizer {
  /** Decides a check. */
  readonly ask: (check: AccessCheck) => AccessAnswer;
  /** Request that `authorizer.requestResource` is about. */
  readonly request: RequestResource;
}

/** Cost of a check of the authorizer, as in Kubernetes: 28 of them use up the budget of a policy. */
const CHECK_STEPS = 350_000;

/** Expressions that may use variables which are expressions themselves: `variables.<name>` (Kubernetes' composition). */
export class ComposedExpressions {
  readonly #compiler: ExpressionCompiler;
  readonly #variables = new Map<string, { readonly type: string; readonly compiled: CompiledExpression }>();
  #typed: TypedEnvironment;

  constructor(compiler: ExpressionCompiler) {
    this.#compiler = compiler;
    this.#typed = this.#declared();
  }

  /** Adds a variable; expressions that are compiled later may use it. @returns its error */
  declare(name: string, source: string): string | undefined {
    const compiled = this.compile(source);
    this.#variables.set(name, { type: "expression" in compiled ? compiled.expression.type : "dyn", compiled });
    this.#typed = this.#declared();
    return "problem" in compiled ? compiled.problem : undefined;
  }

  /** Compiles an expression. @param wanted static types, one of which its value must have. @default any */
  compile(source: string, wanted?: WantedType | readonly WantedType[]): CompiledExpression {
    return this.#compiler.compile(source, wanted, this.#typed);
  }

  /** Begins an evaluation of several expressions over the same values. */
  evaluation({ values, authorizer }: EvaluationInput): Evaluation {
    const all: Record<string, unknown> = { ...values };
    const evaluation = new Evaluation((expression, budget) =>
      expression.evaluateWith(all, this.#sizes(expression, values), budget),
    );
    if (authorizer !== undefined) {
      const ask = (check: AccessCheck): AccessAnswer => {
        evaluation.spend(CHECK_STEPS);
        return authorizer.ask(check);
      };
      all["authorizer"] = new AuthorizerValue(ask, authorizer.request);
    }
    all[VARIABLES] = new LazyVariables((name) => this.#variable(name, evaluation));
    return evaluation;
  }

  #variable(name: string, evaluation: Evaluation): unknown {
    const compiled = this.#variables.get(name)?.compiled;
    if (compiled === undefined) return undefined;
    const named = `composited variable ${JSON.stringify(name)}`;
    if ("problem" in compiled) throw new ExpressionError(`${named} fails to compile: ${compiled.problem}`);
    try {
      return evaluation.evaluate(compiled.expression);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw new ExpressionError(`${named} fails to evaluate: ${error.message}`);
    }
  }

  /** Sizes of what an expression reads. Variables may pass on all that they read. */
  #sizes(expression: Expression, values: Values): Caps {
    const own = expression.sizes(values);
    if (!expression.uses(VARIABLES)) return own;
    let all = own;
    for (const { compiled } of this.#variables.values()) {
      if ("problem" in compiled) continue;
      const { list, text, nodes } = compiled.expression.sizes(values);
      all = { list: Math.max(all.list, list), text: Math.max(all.text, text), nodes: Math.max(all.nodes, nodes) };
    }
    return all;
  }

  #declared(): TypedEnvironment {
    const { environment: base, fields } = this.#compiler.typed;
    const environment = base.clone();
    const types = Object.fromEntries([...this.#variables].map(([name, { type }]) => [name, type]));
    environment.registerType(VARIABLES_TYPE, { ctor: class {}, fields: types });
    environment.registerVariable(VARIABLES, VARIABLES_TYPE);
    return { environment, fields: new Map([...fields, [VARIABLES_TYPE, new Set(Object.keys(types))]]) };
  }
}

const VARIABLES_TYPE = "Variables";

/** Evaluation of several expressions over the same values. Each composed variable is evaluated once, when it is first needed. */
export class Evaluation {
  readonly #evaluate: (expression: Expression, budget: Budget) => unknown;
  #budget = new Budget(0);

  constructor(evaluate: (expression: Expression, budget: Budget) => unknown) {
    this.#evaluate = evaluate;
  }

  /** Sets how many steps the next expressions may take together. */
  allow(steps: number): void {
    this.#budget = new Budget(steps);
  }

  /** Takes steps from those of the next expressions. @throws BudgetError if there are fewer */
  spend(steps: number): void {
    this.#budget.spend(steps);
  }

  /** Evaluates an expression. @throws ExpressionError when it fails, BudgetError when the steps are used up */
  evaluate(expression: Expression): unknown {
    return this.#evaluate(expression, this.#budget);
  }

  /** Returns the JSON of an apply configuration. @throws ExpressionError for an object whose types do not fit its fields */
  objectOf(value: unknown): unknown {
    const misplaced = misplacedObject(value);
    if (misplaced !== undefined) throw new ExpressionError(`type mismatch: ${misplaced}`);
    return toJson(value);
  }

  /** Returns the JSON of a JSON patch. @throws ExpressionError as {@link objectOf} */
  patchOf(operations: unknown): readonly unknown[] {
    if (!Array.isArray(operations))
      throw new ExpressionError("type mismatch: JSONPatchType.expression should evaluate to array");
    return operations.map((operation: PatchValue) => {
      const value = operation.fields.get("value");
      const misplaced = value instanceof ObjectValue ? misplacedObject(value, value.type) : undefined;
      if (misplaced !== undefined) throw new ExpressionError(`type mismatch: ${misplaced}`);
      return toJson(operation);
    });
  }
}
