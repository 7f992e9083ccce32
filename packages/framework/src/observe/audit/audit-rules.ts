import type { RequestInfo } from "../../request/request-info.ts";
import type { User } from "../../request/user.ts";
import type { ObservedRequest } from "../observer.ts";
import {
  type AuditLevel,
  type AuditPolicy,
  type AuditResources,
  type AuditRule,
  type AuditStage,
  LEVELS,
} from "./check-policy.ts";

/** Result of a policy for one request. */
export interface AuditDecision {
  readonly level: AuditLevel;
  /** Whether to record the request body. */
  readonly request: boolean;
  /** Whether to record the response body. */
  readonly response: boolean;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

interface Compiled {
  readonly rule: AuditRule;
  readonly decision: AuditDecision;
}

/** A compiled policy. */
export class AuditRules {
  readonly #rules: readonly Compiled[];
  readonly #otherwise: AuditDecision;

  constructor(policy: AuditPolicy) {
    this.#rules = policy.rules.map((rule) => ({ rule, decision: decisionOf(policy, rule) }));
    this.#otherwise = decisionOf(policy, { level: "None" });
  }

  /** Returns the decision of the first matching rule. @param user authenticated user, if known */
  decide(request: ObservedRequest, user: User | undefined): AuditDecision {
    for (const { rule, decision } of this.#rules) if (matches(rule, request, user)) return decision;
    return this.#otherwise;
  }
}

function decisionOf(policy: AuditPolicy, rule: AuditRule): AuditDecision {
  const rank = LEVELS.indexOf(rule.level);
  return {
    level: rule.level,
    request: rank >= LEVELS.indexOf("Request"),
    response: rank >= LEVELS.indexOf("RequestResponse"),
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
}

function matches(rule: AuditRule, request: ObservedRequest, user: User | undefined): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  const info = request.info;
  if (isGiven(users) && (user === undefined || !users.includes(user.name))) return false;
  if (isGiven(userGroups) && user?.groups.some((group) => userGroups.includes(group)) !== true) return false;
  if (isGiven(verbs) && !verbs.includes(verbOf(request))) return false;
  if (isGiven(namespaces) || isGiven(resources)) return info?.isResource === true && matchesResource(rule, info);
  if (isGiven(nonResourceURLs)) return info?.isResource !== true && matchesUrl(nonResourceURLs, request);
  return true;
}

function isGiven<T>(list: readonly T[] | undefined): list is readonly T[] {
  return list !== undefined && list.length > 0;
}

/** Returns Kubernetes' verb, or the method of a request rejected before its verb is known. */
export function verbOf({ info, req }: ObservedRequest): string {
  return info?.verb ?? (req.method ?? "").toLowerCase();
}

function matchesResource({ namespaces, resources }: AuditRule, info: RequestInfo): boolean {
  if (isGiven(namespaces) && !namespaces.includes(info.namespace)) return false;
  return !isGiven(resources) || resources.some((one) => isAbout(one, info));
}

function isAbout({ group = "", resources, resourceNames }: AuditResources, info: RequestInfo): boolean {
  if (group !== "*" && group !== info.group) return false;
  if (!isGiven(resources)) return true;
  if (isGiven(resourceNames) && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === "*" || one === full || one === `${resource}/*` || (subresource !== "" && one === `*/${subresource}`),
  );
}

/** Matches the path below the view, which policies written for Kubernetes expect, or the full path. */
function matchesUrl(urls: readonly string[], { path, info }: ObservedRequest): boolean {
  const below = info?.path ?? path;
  return urls.some((url) => matchesPath(url, below) || matchesPath(url, path));
}

function matchesPath(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));
}
