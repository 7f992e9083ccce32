import type { RequestInfo } from "../../request/request-info.ts";
import type { Rules } from "../authorization.ts";
import type { PolicyRule } from "./objects.ts";
import type { Grant } from "./policy.ts";

const ALL = "*";
const NONE: readonly string[] = [];

/** What a rule is held against. */
export type RuleQuestion = Pick<
  RequestInfo,
  "isResource" | "verb" | "path" | "group" | "resource" | "subresource" | "name"
>;

/** Whether a rule of RBAC allows what is asked, whoever has it and wherever (Kubernetes' `RuleAllows`). */
export function ruleAllows(rule: PolicyRule, asked: RuleQuestion): boolean {
  if (!has(rule.verbs, asked.verb)) return false;
  if (!asked.isResource) return (rule.nonResourceURLs ?? NONE).some((url) => coversPath(url, asked.path));
  return (
    has(rule.apiGroups ?? NONE, asked.group) &&
    (rule.resources ?? NONE).some((resource) => coversResource(resource, asked)) &&
    coversName(rule.resourceNames ?? NONE, asked.name)
  );
}

function has(values: readonly string[], value: string): boolean {
  return values.includes(ALL) || values.includes(value);
}

function coversResource(pattern: string, { resource, subresource }: RuleQuestion): boolean {
  if (pattern === ALL) return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`;
}

function coversName(names: readonly string[], name: string): boolean {
  return names.length === 0 || names.includes(name);
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === ALL || pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ""));
}

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
