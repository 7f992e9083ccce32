import type { Rules } from "../authorization.ts";
import type { PolicyRule } from "./objects.ts";
import type { Grant } from "./policy.ts";

/** What grants come to, as an authorizer lists its `rules`: paths only of what holds everywhere. */
export function grantedRules(grants: Iterable<Grant>): Rules {
  const all = [...grants];
  const missing = all.flatMap(({ rules }) => (typeof rules === "string" ? rules : []));
  const given = all.flatMap(({ rules, namespace: bound }) =>
    typeof rules === "string" ? [] : rules.map((rule) => ({ rule, bound })),
  );
  return {
    resourceRules: given.flatMap(({ rule }) => ((rule.resources ?? []).length > 0 ? resourceRule(rule) : [])),
    nonResourceRules: given.flatMap(({ rule: { verbs, nonResourceURLs = [] }, bound }) =>
      bound === "" && nonResourceURLs.length > 0 ? { verbs, nonResourceURLs } : [],
    ),
    incomplete: false,
    ...(missing.length === 0 ? {} : { evaluationError: aggregate(missing) }),
  };
}

function resourceRule({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule) {
  return { verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

/** Several errors as one, as Kubernetes prints them. */
export function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]`;
}
