import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  OMITTED_VALUE,
  type StatusCause,
  type ValidationRule,
} from "@virtual-workspaces/apimachinery";
import {
  type RuleSite,
  resolveFieldPath,
  ruleField,
  type StaticRuleSite,
} from "@virtual-workspaces/apimachinery/schema";
import type { CompiledRule, Finding } from "./compiled-rule.ts";
import { MAX_REQUEST_BYTES, shapeOf } from "./values/shape.ts";

/** Cost budget for all rules of a schema. */
export function schemaBudget(): Budget {
  return new Budget();
}

/** Returns the errors of the rules at one location of a schema, and adds their cost to the budget. */
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
  /** Maximum number of values that the rule is evaluated for. */
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

/** Returns how many values of a location fit into a request. */
function fitting({ schema, resourceRoot }: StaticRuleSite): number {
  return Math.floor(MAX_REQUEST_BYTES / ((shapeOf(schema, resourceRoot)?.minSize ?? 1) + 1));
}

/** Prints the rule as Kubernetes does, with Go's field names. */
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

/** Cost limit of one rule, by its estimate. */
const RULE_LIMIT = 10_000_000;
/** Cost limit of all rules of a schema. */
const SCHEMA_LIMIT = 100_000_000;
/** Number of the most expensive rules that are listed when the total is too high, and the minimum cost to be listed. */
const NAMED = 4;
const EXPENSIVE = SCHEMA_LIMIT / 100;

/** Costs of a schema's expressions and their locations. */
class Budget {
  readonly #costs: { readonly field: string; readonly cost: number }[] = [];

  /** Adds an expression. @returns an error if it alone costs too much */
  add(field: string, cost: number, what: "rule" | "messageExpression"): StatusCause[] {
    this.#costs.push({ field, cost });
    return cost > RULE_LIMIT ? [fieldForbidden(field, excess(`estimated ${what} cost`, cost, RULE_LIMIT))] : [];
  }

  /** Returns errors if the total cost is too high. */
  problems(schemaField: string): StatusCause[] {
    const total = this.#costs.reduce((all, { cost }) => all + cost, 0);
    if (total <= SCHEMA_LIMIT) return [];
    const worst = this.#costs
      .filter(({ cost }) => cost >= EXPENSIVE)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, NAMED);
    const contribution = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...worst.map(({ field }) => fieldForbidden(field, contribution)),
      fieldForbidden(schemaField, excess(what, total, SCHEMA_LIMIT)),
    ];
  }
}

function excess(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const remedy =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${shown} (${remedy})`;
}

/** Converts the failure of a rule to a cause, with the rule's own reason and field. */
export function causeOf(site: RuleSite, rule: ValidationRule, { kind, detail }: Finding): StatusCause {
  const type = site.schema.type ?? "";
  if (kind === "error") return fieldInvalid(ruleField(site), type, detail);
  const field = ruleField(site, normalizedPath(rule, site));
  const value = type === "object" || type === "array" ? OMITTED_VALUE : site.self;
  switch (rule.reason) {
    case "FieldValueForbidden":
      return fieldForbidden(field, detail);
    case "FieldValueRequired":
      return fieldRequired(field, detail);
    case "FieldValueDuplicate":
      return fieldDuplicate(field, value);
    default:
      return fieldInvalid(field, value, detail);
  }
}

/** Returns the error for a site when the budget is exhausted. */
export function exhausted(site: RuleSite): StatusCause {
  const detail = "validation failed due to running out of cost budget, no further validation rules will be run";
  return fieldInvalid(ruleField(site), site.schema.type ?? "", detail);
}

function normalizedPath({ fieldPath = "" }: ValidationRule, site: RuleSite): string {
  if (fieldPath === "") return "";
  const resolved = resolveFieldPath(fieldPath, site.schema);
  return typeof resolved === "string" ? "" : resolved.path;
}
