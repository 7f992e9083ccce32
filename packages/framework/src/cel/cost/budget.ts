import { fieldForbidden, type StatusCause } from "@virtual-workspaces/apimachinery";

/** What one rule may cost by its estimate. */
const RULE_LIMIT = 10_000_000;
/** What all rules of a schema may cost. */
const SCHEMA_LIMIT = 100_000_000;
/** How many of the most expensive are named when all together cost too much, and what one costs at least to be named. */
const NAMED = 4;
const EXPENSIVE = SCHEMA_LIMIT / 100;

/** What the expressions of a schema cost, and where they are. */
export class Budget {
  readonly #costs: { readonly field: string; readonly cost: number }[] = [];

  /** Accounts for an expression. @returns what is wrong if it alone costs too much */
  add(field: string, cost: number, what: "rule" | "messageExpression"): StatusCause[] {
    this.#costs.push({ field, cost });
    return cost > RULE_LIMIT ? [fieldForbidden(field, excess(`estimated ${what} cost`, cost, RULE_LIMIT))] : [];
  }

  /** What is wrong if all together cost too much. */
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
