import type { Environment } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "@virtual-workspaces/apimachinery";
import { createEnvironment, declareShape } from "./library/environment.ts";
import { evaluationMessage } from "./library/messages.ts";
import { Preparer } from "./library/prepare.ts";
import { type CompiledExpression, compileExpression, type RuleEnvironment, type RuleValues } from "./program.ts";
import { type Shape, shapeOf } from "./values/shape.ts";

/** Limit of a messageExpression's result, in bytes. */
const MAX_MESSAGE = 5 * 1024;

/** Failure of a rule. */
export interface Finding {
  /** `false`: the value violates the rule; `error`: the rule could not be evaluated. */
  readonly kind: "false" | "error";
  readonly detail: string;
  /** Whether the rule checks a change, so that it fails for unchanged values too. */
  readonly usesOldSelf: boolean;
}

/** Rule of a schema. */
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

  /** Returns whether the rule must be evaluated: a transition rule needs an old value. */
  appliesTo({ oldSelf }: RuleValues): boolean {
    if (this.rule.rule.trim() === "") return false;
    return !this.expression.usesOldSelf || oldSelf !== undefined || this.rule.optionalOldSelf === true;
  }

  /** Returns the maximum cost of evaluating the rule and its message. */
  weigh(values: RuleValues): number {
    return (this.expression.program?.weigh(values) ?? 0) + (this.message?.program?.weigh(values) ?? 0);
  }

  /** Returns the failure of a value, if there is one. */
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

  /** Returns undefined if the message is unusable; the rule's static message applies then. */
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

/** Messages of rules that are not transition rules have no old value. */
function withoutOld({ self, schema, resourceRoot }: RuleValues): RuleValues {
  return { self, schema, resourceRoot, oldSelf: undefined };
}

/** Location in a schema that has rules. */
export interface RulePlace {
  readonly schema: JsonSchema;
  readonly rules: readonly ValidationRule[];
  readonly resourceRoot: boolean;
}

type Typed = Pick<RuleEnvironment, "typed" | "fields">;

const FORMATS = /\.\s*format\s*\(/;

/** Compiles rules, which share one environment for evaluation. */
export class RuleCompiler {
  readonly #base: Environment = createEnvironment();
  readonly #dynamic: Environment = this.#base
    .clone()
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn");
  readonly #preparer = new Preparer();

  /** Compiles the rules of a location; returns none if CEL cannot represent its values. */
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

  /** Creates an environment with the types of `self` and `oldSelf`. Only formatted values may be lists of mixed types. */
  #declare(shape: Shape, { formats, optional }: { readonly formats: boolean; readonly optional: boolean }): Typed {
    const typed = this.#base.clone({ homogeneousAggregateLiterals: !formats });
    const { type, fields } = declareShape(typed, shape);
    typed.registerVariable("self", type);
    typed.registerVariable("oldSelf", optional ? `optional<${type}>` : type);
    return { typed, fields };
  }
}
