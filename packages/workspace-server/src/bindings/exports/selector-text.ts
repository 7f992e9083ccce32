import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery";

/** A selector as one text, requirements in the order of their keys (metav1.LabelSelectorAsSelector, printed). */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): string {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => [key, `${key}=${value}`] as const),
    ...matchExpressions.map(({ key, operator, values = [] }) => [key, expression(key, operator, values)] as const),
  ];
  return requirements
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function expression(key: string, operator: string, values: readonly string[]): string {
  const list = `(${[...values].sort().join(",")})`;
  if (operator === "In") return `${key} in ${list}`;
  if (operator === "NotIn") return `${key} notin ${list}`;
  return operator === "Exists" ? key : `!${key}`;
}
