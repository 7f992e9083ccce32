import {
  fieldInvalid,
  type StaticRuleSite,
  type StatusCause,
  type ValidationRule,
} from "@virtual-workspaces/apimachinery";
import type { CompiledRule } from "./compiled-rule.ts";
import { Budget } from "./cost/budget.ts";
import { MAX_REQUEST_BYTES, shapeOf } from "./types/shape.ts";

/** What all rules of one schema may cost. */
export function schemaBudget(): Budget {
  return new Budget();
}

/** What is wrong with the rules of one place of a schema; their cost is added to the budget. */
export function placeProblems(
  place: StaticRuleSite,
  rules: readonly CompiledRule[],
  { path, budget }: { readonly path: string; readonly budget: Budget },
): StatusCause[] {
  const values = place.maxCardinality ?? fitting(place);
  return rules.flatMap((rule, at) => {
    const field = `${place.path === "" ? path : `${path}.${place.path}`}.x-kubernetes-validations[${at}]`;
    return ruleProblems(rule, { field, budget, values, uncorrelatable: place.uncorrelatable, path });
  });
}

interface RuleContext {
  readonly field: string;
  readonly path: string;
  readonly budget: Budget;
  /** How many values the rule may be evaluated for. */
  readonly values: number;
  readonly uncorrelatable: string | undefined;
}

function ruleProblems({ rule, expression, message }: CompiledRule, context: RuleContext): StatusCause[] {
  const { field, path, budget, values, uncorrelatable } = context;
  const problems = budget.add(`${field}.rule`, expression.cost * values, "rule");
  if (expression.problem !== undefined) problems.push(invalidRule(`${field}.rule`, rule, expression.problem));
  if (message?.problem !== undefined) {
    problems.push(invalidRule(`${field}.messageExpression`, rule, `messageExpression ${message.problem}`));
  } else if (message !== undefined) {
    problems.push(...budget.add(`${field}.messageExpression`, message.cost, "messageExpression"));
  }
  if (expression.usesOldSelf && uncorrelatable !== undefined) {
    const within = uncorrelatable === "" ? path : `${path}.${uncorrelatable}`;
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${within}`;
    problems.push(fieldInvalid(`${field}.rule`, rule.rule, detail));
  } else if (!expression.usesOldSelf && expression.problem === undefined && rule.optionalOldSelf !== undefined) {
    const detail = "may not be set if oldSelf is not used in rule";
    problems.push(fieldInvalid(`${field}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
  return problems;
}

/** How many values of a place fit in a request. */
function fitting({ schema, resourceRoot }: StaticRuleSite): number {
  return Math.floor(MAX_REQUEST_BYTES / ((shapeOf(schema, resourceRoot)?.minSize ?? 1) + 1));
}

/** The rule is printed as Kubernetes prints it: by the names of its fields in Go. */
function invalidRule(field: string, rule: ValidationRule, detail: string): StatusCause {
  const value = JSON.stringify({
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  return { reason: "FieldValueInvalid", message: `Invalid value: ${value}: ${detail}`, field };
}
