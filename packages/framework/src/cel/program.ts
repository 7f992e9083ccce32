import { type Environment, Optional } from "@marcbachmann/cel-js";
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { estimateCost } from "./cost/estimate.ts";
import { type Caps, MAX_NODES, measure } from "./cost/size.ts";
import { formatProblems } from "./library/messages.ts";
import { detached } from "./library/node.ts";
import { dynamicSource, type Prepared, type Preparer, readsOf, usesVariable } from "./library/prepare.ts";
import { fromJson, type Reads } from "./values/json.ts";
import { type Shape, withObjectMeta } from "./values/shape.ts";

/** Environments that expressions are compiled in. */
export interface RuleEnvironment {
  readonly preparer: Preparer;
  /** Environment with the types of `self` and `oldSelf`. */
  readonly typed: Environment;
  /** Fields of its object types. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
  /** Environment without types, shared by all rules. */
  readonly dynamic: Environment;
  readonly shape: Shape;
}

/** New and old value. */
export interface RuleValues {
  readonly self: unknown;
  readonly oldSelf: unknown;
  readonly schema: JsonSchema;
  readonly resourceRoot: boolean;
}

/** Compiled expression of a rule, or its error. */
export interface CompiledExpression {
  /** Error with Kubernetes' text and the position in the expression. */
  readonly problem: string | undefined;
  /** Maximum cost with values that the schema allows. */
  readonly cost: number;
  readonly usesOldSelf: boolean;
  readonly program: Program | undefined;
}

/** Compiles an expression that must have a given type. */
export function compileExpression(
  source: string,
  wanted: "bool" | "string",
  environment: RuleEnvironment,
): CompiledExpression {
  const typed = environment.preparer.prepare(source, environment.typed, environment.fields);
  if ("message" in typed) return failed(`compilation failed: ${formatProblems(source, [typed])}`);
  if (typed.type !== wanted)
    return failed(wanted === "bool" ? "cel expression must evaluate to a bool" : "must evaluate to a string");
  const dynamic = environment.preparer.prepareOwn(dynamicSource(typed.root), environment.dynamic);
  if ("message" in dynamic) return failed(`compilation failed: ${formatProblems(source, [dynamic])}`);
  const usesOldSelf = usesVariable(typed.root, "oldSelf");
  const cost = estimateCost(typed.root, environment.shape);
  return { problem: undefined, cost, usesOldSelf, program: new Program({ dynamic, typed, shape: environment.shape }) };
}

function failed(problem: string): CompiledExpression {
  return { problem, cost: 0, usesOldSelf: false, program: undefined };
}

/** Expression that can be evaluated. */
export class Program {
  readonly #run: Prepared["run"];
  readonly #estimate: (caps: Caps) => number;
  readonly #estimates = new Map<string, number>();
  readonly self: Reads;
  readonly oldSelf: Reads;

  constructor({ dynamic, typed, shape }: { dynamic: Prepared; typed: Prepared; shape: Shape }) {
    this.#run = dynamic.run;
    const root = detached(typed.root);
    this.#estimate = (caps) => estimateCost(root, shape, caps);
    this.self = readsOf(typed.root, "self");
    this.oldSelf = readsOf(typed.root, "oldSelf");
  }

  /** Returns the maximum cost of evaluating it over given values, in units of about 100 ns; infinite if it must not run. */
  weigh({ self, oldSelf }: RuleValues): number {
    const { list, text, nodes } = measure([
      [self, this.self],
      [oldSelf, this.oldSelf],
    ]);
    if (nodes > MAX_NODES) return Number.POSITIVE_INFINITY;
    const caps = { list: rounded(list), text: rounded(text), nodes: rounded(nodes) };
    const key = `${caps.list} ${caps.text} ${caps.nodes}`;
    const known = this.#estimates.get(key);
    if (known !== undefined) return nodes + known;
    const estimate = this.#estimate(caps);
    this.#estimates.set(key, estimate);
    return nodes + estimate;
  }

  /** Throws whatever the library throws. */
  evaluate(values: RuleValues, optionalOldSelf: boolean): unknown {
    const { self, oldSelf, resourceRoot } = values;
    const schema = resourceRoot ? withObjectMeta(values.schema) : values.schema;
    const old = oldSelf === undefined ? undefined : fromJson(oldSelf, schema, this.oldSelf);
    return this.#run({
      self: fromJson(self, schema, this.self),
      oldSelf: optionalOldSelf ? Optional.of(old) : old,
    });
  }
}

/** Rounds up to a power of two, so that there are few distinct sizes. */
function rounded(size: number): number {
  return 2 ** Math.ceil(Math.log2(size));
}
