import {
  isApiError,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  parseLabelSelector,
} from "@virtual-workspaces/apimachinery";
import { UsageError } from "../usage.ts";

const OPERATORS: Readonly<Record<string, LabelSelectorExpression["operator"]>> = {
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
};

/** A selector as objects carry it, from its text (`metav1.ParseToLabelSelector`). @throws UsageError */
export function selectorObject(text: string, flag: string): LabelSelectorObject {
  const { requirements } = parsed(text, flag);
  const equal = requirements.filter(({ operator }) => operator === "=");
  const others = requirements.filter(({ operator }) => operator !== "=");
  const matchExpressions = others.map(({ key, operator: sign, values }): LabelSelectorExpression => {
    const operator = OPERATORS[sign];
    if (operator === undefined)
      throw new UsageError(`${flag} ${text}: ${JSON.stringify(sign)} cannot be stored in an object: leave it out`);
    return { key, operator, ...(values.length > 0 && { values }) };
  });
  const matchLabels = Object.fromEntries(equal.map(({ key, values: [value = ""] }) => [key, value]));
  return { ...(equal.length > 0 && { matchLabels }), ...(others.length > 0 && { matchExpressions }) };
}

function parsed(text: string, flag: string): ReturnType<typeof parseLabelSelector> {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (isApiError(error)) throw new UsageError(`${flag} ${text}: ${error.message}`);
    throw error;
  }
}
