import type { RequestInfo } from "../../request/request-info.ts";
import type { Rules } from "../authorization.ts";
import type { PolicyRule } from "./objects.ts";
import type { Grant } from "./policy.ts";

const ALL = "*";
const NONE: readonly string[] = [];

/** Attributes of a request that a rule is matched against. */
export type RuleQuestion = Pick<
  RequestInfo,
  "isResource" | "verb" | "path" | "group" | "resource" | "subresource" | "name"
>;

/** Returns whether an RBAC rule allows a request, regardless of subject and namespace (Kubernetes' `RuleAllows`). */
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

/** Converts grants to the `rules` of an authorizer. Only cluster-wide grants apply to paths. */
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

/** Joins several errors as Kubernetes prints them. */
export function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]`;
}
