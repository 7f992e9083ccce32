import type { Environment } from "@marcbachmann/cel-js";
import { isJsonObject, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { Budget, BudgetError } from "./cost/budget.ts";
import { type Caps, MAX_NODES, measure, workOf } from "./cost/size.ts";
import { AuthorizerValue } from "./functions/authorizer.ts";
import { LITERAL_FUNCTIONS } from "./functions/patches.ts";
import { addPatches, createEnvironment, declareShape } from "./library/environment.ts";
import { withoutLiterals } from "./library/literals.ts";
import { evaluationMessage, formatProblems, typeName } from "./library/messages.ts";
import { callOf, descendants, detached, type Node } from "./library/node.ts";
import { dynamicSource, type Prepared, Preparer, readsOf, usesVariable } from "./library/prepare.ts";
import type { Reads } from "./values/json.ts";
import { LazyVariables } from "./values/lazy-variables.ts";
import { escapeName, type Shape, shapeOf, unescapeName } from "./values/shape.ts";

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

/** Static types that an expression may be required to have: of Kubernetes' names. */
export type WantedType = "bool" | "string" | "null_type" | "Object" | "list(JSONPatch)";

/** Options for compiling expressions. */
export interface CompilerOptions {
  /** Type of whole numbers in values without a schema: `int` as in objects, or `double` as in claims. @default "double" */
  readonly wholeNumbers?: "int" | "double";
  /** Whether errors name types, keys and values that were found. Security: values of the input may be secret. @default false */
  readonly revealing?: boolean;
  /** Whether there is the variable `authorizer`. @default false */
  readonly authorizer?: boolean;
  /** Whether expressions may create objects and JSON patches: `Object{…}`, `JSONPatch{…}`. @default false */
  readonly patches?: boolean;
}

/** Environment for type checks, with the fields of its object types. */
export interface TypedEnvironment {
  readonly environment: Environment;
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Compiles expressions over some variables, with Kubernetes' functions. */
export class ExpressionCompiler {
  readonly typed: TypedEnvironment;
  readonly #variables: readonly string[];
  readonly #options: CompilerOptions;
  readonly #preparer: Preparer;
  readonly #dynamic: Environment;

  /** @param variables their shapes, by name */
  constructor(variables: Readonly<Record<string, Shape>>, options: CompilerOptions = {}) {
    const { patches = false, authorizer = false } = options;
    this.#options = options;
    this.#preparer = new Preparer({ patches });
    this.#variables = [...Object.keys(variables), VARIABLES, ...(authorizer ? [AUTHORIZER] : [])];
    const base = createEnvironment();
    if (patches) addPatches(base);
    this.#dynamic = base.clone();
    this.#dynamic.registerType("LazyVariables", { ctor: LazyVariables });
    const typed = base.clone();
    const fields = new Map<string, ReadonlySet<string>>();
    for (const [name, shape] of Object.entries(variables))
      typed.registerVariable(name, declareShape(typed, shape, fields).type);
    if (authorizer) typed.registerVariable(AUTHORIZER, "Authorizer");
    for (const name of this.#variables) this.#dynamic.registerVariable(name, "dyn");
    this.typed = { environment: typed, fields };
  }

  /**
   * Compiles an expression.
   *
   * @param wanted static types, one of which its value must have. @default any
   * @param typed environment for the type check. @default with the variables of the constructor
   */
  compile(
    source: string,
    wanted?: WantedType | readonly WantedType[],
    typed: TypedEnvironment = this.typed,
  ): CompiledExpression {
    const { wholeNumbers, revealing = false } = this.#options;
    const types = wanted === undefined ? undefined : [wanted].flat();
    const parsed = this.#options.patches === true ? withoutLiterals(source) : undefined;
    const checked = this.#preparer.prepare(parsed?.source ?? source, typed.environment, typed.fields);
    if ("message" in checked) {
      const problem = { ...checked, at: parsed?.original(checked.at) ?? checked.at };
      return { problem: `compilation failed: ${formatProblems(source, [problem])}` };
    }
    const type = typeOf(checked);
    if (types !== undefined && !types.includes(type as WantedType)) {
      const all = types.length === 1 ? `${types[0]}` : `one of [${types.join(" ")}]`;
      return { problem: `must evaluate to ${all}${revealing ? ` but got ${type}` : ""}` };
    }
    const run = this.#preparer.prepareOwn(dynamicSource(checked.root), this.#dynamic);
    if ("message" in run) return { problem: `compilation failed: ${formatProblems(source, [run])}` };
    const root = detached(checked.root);
    const used = this.#variables.filter((name) => usesVariable(root, name));
    const reads = new Map(used.map((name) => [name, readsOf(root, name)]));
    const integers = wholeNumbers === "int";
    return {
      expression: new Expression({ source, type: checked.type, reads, root, run: run.run, integers, revealing }),
    };
  }
}

/** Variable with the composed variables of an expression. */
export const VARIABLES = "variables";
const AUTHORIZER = "authorizer";

/** Returns the type of an expression by Kubernetes' name. A literal of an object has the name of its path. */
function typeOf({ root, type }: Prepared): string {
  const call = callOf(root);
  const [path] = call?.name.startsWith(LITERAL_FUNCTIONS.part) === true ? call.args : [];
  return path?.op === "value" && typeof path.args === "string" ? path.args : typeName(type);
}

interface ExpressionParts {
  readonly source: string;
  /** Type of the value, by the library's name. */
  readonly type: string;
  /** Variables that it uses, with the parts that it reads. */
  readonly reads: ReadonlyMap<string, Reads>;
  readonly root: Node;
  readonly run: Prepared["run"];
  readonly integers: boolean;
  readonly revealing: boolean;
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

  /** Static type of its value, by the library's name. */
  get type(): string {
    return this.#parts.type;
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

  /** Returns whether it uses a variable. */
  uses(variable: string): boolean {
    return this.#parts.reads.has(variable);
  }

  /** Returns the sizes of what it reads. */
  sizes(values: Readonly<Record<string, unknown>>): Caps {
    const read = [...this.#parts.reads].filter(([name]) => name !== VARIABLES && name !== AUTHORIZER);
    return measure(read.map(([name, reads]) => [values[name], reads]));
  }

  /**
   * Evaluates the expression in the main thread. It fails if the sizes of the inputs could make it take longer than some 100
   * ms.
   *
   * @param values JSON of the variables, by name
   * @param budget steps that this and other expressions may take together. @default those of one expression
   * @throws ExpressionError without any of the values, unless the compiler reveals them
   */
  evaluate(values: Readonly<Record<string, unknown>>, budget: Budget = new Budget(MOST_STEPS)): unknown {
    return this.evaluateWith(values, this.sizes(values), budget);
  }

  /** Same as {@link evaluate}, with known sizes. */
  evaluateWith(values: Readonly<Record<string, unknown>>, caps: Caps, budget: Budget): unknown {
    const { reads, root, run, revealing } = this.#parts;
    const work = workOf(root, caps);
    if (caps.nodes > MAX_NODES || work > MOST_STEPS)
      throw new ExpressionError(revealing ? LIMIT : "input is too large to be evaluated in time");
    budget.spend(work);
    try {
      return run(Object.fromEntries([...reads].map(([name, parts]) => [name, this.#valueOf(values[name], parts)])));
    } catch (error) {
      if (error instanceof ExpressionError || error instanceof BudgetError) throw error;
      const message = evaluationMessage(error);
      throw new ExpressionError(revealing ? message : withoutValues(message));
    }
  }

  #valueOf(json: unknown, reads: Reads): unknown {
    if (json instanceof LazyVariables || json instanceof AuthorizerValue) return json;
    if (typeof json === "bigint") return this.#parts.integers ? json : Number(json);
    if (typeof json === "number") return this.#parts.integers && Number.isSafeInteger(json) ? BigInt(json) : json;
    if (Array.isArray(json)) return json.map((element) => this.#valueOf(element, "all"));
    if (!isJsonObject(json)) return json;
    const values = new Map<string, unknown>();
    if (reads !== "all") {
      for (const [name, inner] of reads) {
        const member = memberOf(json, name) ?? memberOf(json, unescapeName(name) ?? name);
        if (member !== undefined) values.set(name, this.#valueOf(member, inner));
      }
      return values;
    }
    for (const [name, member] of Object.entries(json)) {
      const value = this.#valueOf(member, "all");
      values.set(name, value);
      const escaped = escapeName(name);
      if (escaped !== undefined && this.#escaped.has(escaped)) values.set(escaped, value);
    }
    return values;
  }
}

const LIMIT = "operation cancelled: actual cost limit exceeded";

/** Removes values from the message, since evaluation errors may quote them. */
function withoutValues(message: string): string {
  const [, plain] =
    /^(no such key|no such overload|index out of bounds|modulus by zero|integer overflow|optional\.none\(\) dereference)/.exec(
      message,
    ) ?? [];
  return plain ?? "evaluation failed";
}
