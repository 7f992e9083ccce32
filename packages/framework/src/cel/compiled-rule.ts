import type { Environment } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "@virtual-workspaces/apimachinery";
import { createEnvironment, declareShape } from "./library/environment.ts";
import { evaluationMessage } from "./library/messages.ts";
import { Preparer } from "./library/prepare.ts";
import { type CompiledExpression, compileExpression, type RuleEnvironment, type RuleValues } from "./program.ts";
import { type Shape, shapeOf } from "./values/shape.ts";

/** The longest message that a messageExpression may give, in bytes. */
const MAX_MESSAGE = 5 * 1024;

/** What a rule says of a value that it does not hold for. */
export interface Finding {
  /** `false`: it does not hold; `error`: it could not be evaluated. */
  readonly kind: "false" | "error";
  readonly detail: string;
  /** Whether the rule is about a change, so that it is no excuse that the value was so before. */
  readonly usesOldSelf: boolean;
}

/** A rule of a schema. */
export class CompiledRule {
  readonly rule: ValidationRule;
  readonly expression: CompiledExpression;
  readonly message: CompiledExpression | undefined;

  constructor(rule: ValidationRule, environment: RuleEnvironment) {
    this.rule = rule;
    this.expression = compileExpression(rule.rule, "bool", environment);
    const hasMessage = rule.messageExpression !== undefined && rule.messageExpression !== "";
    this.message = hasMessage ? compileExpression(rule.messageExpression, "string", environment) : undefined;
  }

  /** Whether the rule is to be evaluated: one about a change needs an old value. */
  appliesTo({ oldSelf }: RuleValues): boolean {
    if (this.rule.rule.trim() === "") return false;
    return !this.expression.usesOldSelf || oldSelf !== undefined || this.rule.optionalOldSelf === true;
  }

  /** What evaluating it, and its message, takes at most. */
  weigh(values: RuleValues): number {
    return (this.expression.program?.weigh(values) ?? 0) + (this.message?.program?.weigh(values) ?? 0);
  }

  /** What is wrong with a value, if anything is. */
  evaluate(values: RuleValues): Finding | undefined {
    const { program, problem } = this.expression;
    const { usesOldSelf } = this.expression;
    if (program === undefined) return { kind: "error", detail: `rule compile error: ${problem}`, usesOldSelf };
    try {
      const holds = program.evaluate(values, this.rule.optionalOldSelf === true);
      if (holds === true) return undefined;
      return { kind: "false", detail: this.#evaluateMessage(values) ?? this.#defaultMessage(), usesOldSelf };
    } catch (error) {
      return { kind: "error", detail: this.#failure(evaluationMessage(error)), usesOldSelf };
    }
  }

  #failure(message: string): string {
    const noOverload = "call arguments did not match a supported operator, function or macro signature for rule";
    return message.startsWith("no such overload")
      ? `'${message}': ${noOverload}: ${this.#name}`
      : `${message} evaluating rule: ${this.#name}`;
  }

  get #name(): string {
    const { message = "", rule } = this.rule;
    return (message === "" ? rule : message).trim();
  }

  #defaultMessage(): string {
    const { message = "" } = this.rule;
    return message === "" ? `failed rule: ${this.#name}` : message.trim();
  }

  /** Undefined if the message cannot be used; then the rule's own stands. */
  #evaluateMessage(values: RuleValues): string | undefined {
    try {
      const known = this.expression.usesOldSelf ? values : withoutOld(values);
      const message = this.message?.program?.evaluate(known, this.rule.optionalOldSelf === true);
      const text = typeof message === "string" ? message.trim() : "";
      return text === "" || text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE ? undefined : text;
    } catch {
      return undefined;
    }
  }
}

/** Messages of rules that are about no change see none. */
function withoutOld({ self, schema, resourceRoot }: RuleValues): RuleValues {
  return { self, schema, resourceRoot, oldSelf: undefined };
}

/** One place of a schema that has rules. */
export interface RulePlace {
  readonly schema: JsonSchema;
  readonly rules: readonly ValidationRule[];
  readonly resourceRoot: boolean;
}

type Typed = Pick<RuleEnvironment, "typed" | "fields">;

const FORMATS = /\.\s*format\s*\(/;

/** Compiles rules; all of them share one environment to run in. */
export class RuleCompiler {
  readonly #base: Environment = createEnvironment();
  readonly #dynamic: Environment = this.#base
    .clone()
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn");
  readonly #preparer = new Preparer();

  /** The rules of a place; none if CEL cannot speak of its values. */
  compile({ schema, rules, resourceRoot }: RulePlace): readonly CompiledRule[] {
    const shape = shapeOf(schema, resourceRoot);
    if (shape === undefined) return [];
    const typed = new Map<string, Typed>();
    return rules.map((rule) => {
      const formats = FORMATS.test(`${rule.rule} ${rule.messageExpression ?? ""}`);
      const optional = rule.optionalOldSelf === true;
      const key = `${formats} ${optional}`;
      const known = typed.get(key) ?? this.#declare(shape, { formats, optional });
      typed.set(key, known);
      return new CompiledRule(rule, { preparer: this.#preparer, ...known, dynamic: this.#dynamic, shape });
    });
  }

  /** An environment that knows the types of `self` and `oldSelf`. Only what is formatted may be a list of several types. */
  #declare(shape: Shape, { formats, optional }: { readonly formats: boolean; readonly optional: boolean }): Typed {
    const typed = this.#base.clone({ homogeneousAggregateLiterals: !formats });
    const { type, fields } = declareShape(typed, shape);
    typed.registerVariable("self", type);
    typed.registerVariable("oldSelf", optional ? `optional<${type}>` : type);
    return { typed, fields };
  }
}
