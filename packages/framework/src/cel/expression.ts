import type { Environment } from "@marcbachmann/cel-js";
import { isJsonObject, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { MAX_NODES, measure, workOf } from "./cost/size.ts";
import { createEnvironment, declareShape } from "./library/environment.ts";
import { evaluationMessage, formatProblems } from "./library/messages.ts";
import { descendants, detached, type Node } from "./library/node.ts";
import { dynamicSource, type Prepared, Preparer, usesVariable } from "./library/prepare.ts";
import { escapeName, type Shape, shapeOf } from "./values/shape.ts";

/** Limit of an expression, in steps of about 100 ns: it runs in the main thread, which serves all requests. */
const MOST_STEPS = 1_000_000;

/** Error of an evaluation. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** Shape of values without a schema. */
export const ANY: Shape = { type: "dyn", max: 0, minSize: 1, fields: undefined, element: undefined };
/** Shape of objects without a schema: `map<string, dyn>`. */
export const ANY_OBJECT: Shape = { ...ANY, type: "map", element: ANY };

/** Returns the shape of objects with these fields. */
export function objectShape(properties: Readonly<Record<string, JsonSchema>>): Shape {
  return shapeOf({ type: "object", properties }, false) as Shape;
}

/** Compiled expression, or its error with Kubernetes' text. */
export type CompiledExpression = { readonly expression: Expression } | { readonly problem: string };

/** Options for compiling expressions. */
export interface CompilerOptions {
  /** Type of whole numbers in values without a schema: `int` as in objects, or `double` as in claims. @default "double" */
  readonly wholeNumbers?: "int" | "double";
}

/** Compiles expressions over some variables, with Kubernetes' functions. */
export class ExpressionCompiler {
  readonly #variables: readonly string[];
  readonly #integers: boolean;
  readonly #preparer = new Preparer();
  readonly #dynamic: Environment;
  readonly #typed: Environment;
  readonly #fields: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param variables their shapes, by name */
  constructor(variables: Readonly<Record<string, Shape>>, { wholeNumbers = "double" }: CompilerOptions = {}) {
    this.#variables = Object.keys(variables);
    this.#integers = wholeNumbers === "int";
    const base = createEnvironment();
    this.#dynamic = base.clone();
    this.#typed = base.clone();
    const fields = new Map<string, ReadonlySet<string>>();
    for (const [name, shape] of Object.entries(variables)) {
      this.#dynamic.registerVariable(name, "dyn");
      this.#typed.registerVariable(name, declareShape(this.#typed, shape, fields).type);
    }
    this.#fields = fields;
  }

  /** @param wanted required static type of the value. @default any */
  compile(source: string, wanted?: "bool"): CompiledExpression {
    const typed = this.#preparer.prepare(source, this.#typed, this.#fields);
    if ("message" in typed) return { problem: `compilation failed: ${formatProblems(source, [typed])}` };
    if (wanted !== undefined && typed.type !== wanted) return { problem: `must evaluate to ${wanted}` };
    const run = this.#preparer.prepareOwn(dynamicSource(typed.root), this.#dynamic);
    if ("message" in run) return { problem: `compilation failed: ${formatProblems(source, [run])}` };
    const root = detached(typed.root);
    const variables = this.#variables.filter((name) => usesVariable(root, name));
    return { expression: new Expression({ source, variables, root, run: run.run, integers: this.#integers }) };
  }
}

interface ExpressionParts {
  readonly source: string;
  /** Variables that it uses. */
  readonly variables: readonly string[];
  readonly root: Node;
  readonly run: Prepared["run"];
  readonly integers: boolean;
}

/** Compiled expression. */
export class Expression {
  readonly #parts: ExpressionParts;
  /** Escaped names that the expression uses, such as `foo__dot__bar`. */
  readonly #escaped: ReadonlySet<string>;

  constructor(parts: ExpressionParts) {
    this.#parts = parts;
    this.#escaped = new Set(parts.source.match(/\w*__\w+?__\w*/g));
  }

  /** Text that was compiled. */
  get source(): string {
    return this.#parts.source;
  }

  /** Returns whether it selects a field of a variable by name: `claims.email`, `has(claims.email)`, `claims.?email`. */
  selects(variable: string, field: string): boolean {
    for (const { op, args } of descendants(this.#parts.root)) {
      if (op !== "." && op !== ".?") continue;
      const [operand, name] = args;
      if (name === field && operand.op === "id" && operand.args === variable) return true;
    }
    return false;
  }

  /**
   * Evaluates the expression in the main thread. It fails if the sizes of the inputs could make it take longer than some 100
   * ms.
   *
   * @param values JSON of the variables, by name
   * @throws ExpressionError without any of the values
   */
  evaluate(values: Readonly<Record<string, unknown>>): unknown {
    const { variables, root, run } = this.#parts;
    const caps = measure(variables.map((name) => [values[name], "all"]));
    if (caps.nodes > MAX_NODES || workOf(root, caps) > MOST_STEPS)
      throw new ExpressionError("input is too large to be evaluated in time");
    try {
      return run(Object.fromEntries(variables.map((name) => [name, this.#valueOf(values[name])])));
    } catch (error) {
      throw new ExpressionError(withoutValues(evaluationMessage(error)));
    }
  }

  #valueOf(json: unknown): unknown {
    if (typeof json === "bigint") return this.#parts.integers ? json : Number(json);
    if (typeof json === "number") return this.#parts.integers && Number.isSafeInteger(json) ? BigInt(json) : json;
    if (Array.isArray(json)) return json.map((element) => this.#valueOf(element));
    if (!isJsonObject(json)) return json;
    const values = new Map<string, unknown>();
    for (const [name, member] of Object.entries(json)) {
      const value = this.#valueOf(member);
      values.set(name, value);
      const escaped = escapeName(name);
      if (escaped !== undefined && this.#escaped.has(escaped)) values.set(escaped, value);
    }
    return values;
  }
}

/** Removes values from the message, since evaluation errors may quote them. */
function withoutValues(message: string): string {
  const [, plain] =
    /^(no such key|no such overload|index out of bounds|modulus by zero|integer overflow|optional\.none\(\) dereference)/.exec(
      message,
    ) ?? [];
  return plain ?? "evaluation failed";
}
