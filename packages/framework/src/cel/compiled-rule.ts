import type { ValidationRule } from "@virtual-workspaces/apimachinery";
import { evaluationMessage } from "./library/messages.ts";
import { type CompiledExpression, compileExpression, type RuleEnvironment, type RuleValues } from "./program.ts";

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
