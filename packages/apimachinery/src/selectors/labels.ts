import { ApiError } from "../meta/api-error.ts";
import { quote } from "../text/go-format.ts";
import { parseLabelRequirements } from "./label-grammar.ts";
import { checkedRequirement, type LabelOperator, type LabelRequirement } from "./label-requirement.ts";

/** A selector as objects carry it (metav1.LabelSelector): all of its parts must match. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorExpression[] | undefined;
}

/** One expression of {@link LabelSelectorObject}. */
export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[] | undefined;
}

/** Which objects are meant, by their labels. Immutable; {@link parseLabelSelector} makes one. */
export class LabelSelector {
  /** All must hold. Sorted, and each only once. */
  readonly requirements: readonly LabelRequirement[];
  readonly #text: string;

  /** Use {@link parseLabelSelector} or {@link labelSelectorFromObject}, which check their input. */
  constructor(requirements: readonly LabelRequirement[]) {
    const byText = new Map(requirements.map((requirement) => [requirement.toString(), requirement]));
    const sorted = [...byText].sort(([a, { key: aKey }], [b, { key: bKey }]) => order(aKey, bKey) || order(a, b));
    this.requirements = sorted.map(([, requirement]) => requirement);
    this.#text = sorted.map(([text]) => text).join(",");
  }

  /** Whether everything matches. */
  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** Whether an object with these labels is meant. Allocates nothing. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    for (const requirement of this.requirements) if (!requirement.matches(labels?.[requirement.key])) return false;
    return true;
  }

  /** Canonical text: two selectors of the same requirements have the same. It parses back to an equal selector. */
  toString(): string {
    return this.#text;
  }
}

/** The selector that matches everything. */
export const everyLabel: LabelSelector = new LabelSelector([]);

/**
 * A selector from its text, in the whole grammar of Kubernetes: `a`, `!a`, `a=b`, `a==b`, `a!=b`, `a in (b,c)`,
 * `a notin (b,c)`, `a>1`, `a<1`, separated by commas. "" matches everything.
 * @throws ApiError 400 with Kubernetes' message.
 */
export function parseLabelSelector(text: string): LabelSelector {
  return text === "" ? everyLabel : new LabelSelector(parseLabelRequirements(text));
}

/**
 * A selector from the form that objects carry (metav1.LabelSelectorAsSelector). `{}` matches everything.
 * @throws ApiError 400 when a key, operator or value is not valid.
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
