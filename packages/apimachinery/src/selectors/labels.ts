import { ApiError } from "../meta/api-error.ts";
import { quote } from "../text/go-format.ts";
import { parseLabelRequirements } from "./label-grammar.ts";
import { checkedRequirement, type LabelOperator, type LabelRequirement } from "./label-requirement.ts";

/** Selector in an object (metav1.LabelSelector): all of its parts must match. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorExpression[] | undefined;
}

/** Expression of a {@link LabelSelectorObject}. */
export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[] | undefined;
}

/** Selects objects by their labels. Immutable; {@link parseLabelSelector} creates one. */
export class LabelSelector {
  /** Requirements, all of which must hold. Sorted, without duplicates. */
  readonly requirements: readonly LabelRequirement[];
  readonly #text: string;

  /** Use {@link parseLabelSelector} or {@link labelSelectorFromObject}, which check their input. */
  constructor(requirements: readonly LabelRequirement[]) {
    const byText = new Map(requirements.map((requirement) => [requirement.toString(), requirement]));
    const sorted = [...byText].sort(([a, { key: aKey }], [b, { key: bKey }]) => order(aKey, bKey) || order(a, b));
    this.requirements = sorted.map(([, requirement]) => requirement);
    this.#text = sorted.map(([text]) => text).join(",");
  }

  /** Whether the selector matches everything. */
  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** Whether an object with these labels matches. Allocates nothing. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    for (const requirement of this.requirements) if (!requirement.matches(labels?.[requirement.key])) return false;
    return true;
  }

  /** Formats the selector canonically: equal requirements give equal texts. The text parses to an equal selector. */
  toString(): string {
    return this.#text;
  }
}

/** Selector that matches everything. */
export const everyLabel: LabelSelector = new LabelSelector([]);

/**
 * Parses a selector in Kubernetes' whole grammar: `a`, `!a`, `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a>1`,
 * `a<1`, separated by commas. "" matches everything.
 * @throws ApiError 400 with Kubernetes' message.
 */
export function parseLabelSelector(text: string): LabelSelector {
  return text === "" ? everyLabel : new LabelSelector(parseLabelRequirements(text));
}

/**
 * Converts the selector of an object (metav1.LabelSelectorAsSelector). `{}` matches everything.
 * @throws ApiError 400 for an invalid key, operator or value.
 */
export function labelSelectorFromObject(object: LabelSelectorObject): LabelSelector {
  const { matchLabels = {}, matchExpressions = [] } = object;
  const labels = Object.entries(matchLabels).map(([key, value]) => checkedRequirement(key, "=", [value]));
  const expressions = matchExpressions.map(({ key, operator, values = [] }) =>
    checkedRequirement(key, expressionOperator(operator), values),
  );
  return new LabelSelector([...labels, ...expressions]);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function expressionOperator(operator: string): LabelOperator {
  switch (operator) {
    case "In":
      return "in";
    case "NotIn":
      return "notin";
    case "Exists":
      return "exists";
    case "DoesNotExist":
      return "!";
    default:
      throw ApiError.badRequest(`${quote(operator)} is not a valid label selector operator`);
  }
}
