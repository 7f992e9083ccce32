import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  pathSegmentProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import {
  type ClusterRole,
  type ClusterRoleBinding,
  type PolicyRule,
  RBAC_GROUP,
  type Role,
  type RoleBinding,
  type Subject,
} from "./objects.ts";

/** Returns Kubernetes' validation errors for a role with a valid schema (ValidateRole, ValidateClusterRole). */
export function roleProblems(role: Role | ClusterRole): readonly StatusCause[] {
  const isNamespaced = role.kind === "Role";
  const found = (role.rules ?? []).flatMap((rule, at) => ruleProblems(rule, `rules[${at}]`, isNamespaced));
  if (role.kind === "Role" || role.aggregationRule === undefined) return found;
  const { clusterRoleSelectors = [] } = role.aggregationRule;
  const field = "aggregationRule.clusterRoleSelectors";
  if (clusterRoleSelectors.length === 0)
    found.push(fieldRequired(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  return [...found, ...clusterRoleSelectors.flatMap((one, at) => selectorProblems(one, `${field}[${at}]`))];
}

function ruleProblems(rule: PolicyRule, field: string, isNamespaced: boolean): StatusCause[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const found: StatusCause[] = [];
  if (verbs.length === 0) found.push(fieldRequired(`${field}.verbs`, "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const urls = `${field}.nonResourceURLs`;
    if (isNamespaced)
      found.push(fieldInvalid(urls, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const detail = "rules cannot apply to both regular resources and non-resource URLs";
      found.push(fieldInvalid(urls, nonResourceURLs, detail));
    }
    return found;
  }
  if (apiGroups.length === 0)
    found.push(fieldRequired(`${field}.apiGroups`, "resource rules must supply at least one api group"));
  if (resources.length === 0)
    found.push(fieldRequired(`${field}.resources`, "resource rules must supply at least one resource"));
  return found;
}

function selectorProblems(selector: LabelSelectorObject, field: string): StatusCause[] {
  try {
    labelSelectorFromObject(selector);
    return [];
  } catch (error) {
    return [fieldInvalid(field, selector, (error as Error).message)];
  }
}

/**
 * Returns Kubernetes' validation errors for a binding with a valid schema (ValidateRoleBinding, ValidateClusterRoleBinding).
 */
export function bindingProblems(binding: RoleBinding | ClusterRoleBinding): readonly StatusCause[] {
  const { kind, roleRef, subjects = [] } = binding;
  const found: StatusCause[] = [];
  if ((roleRef.apiGroup ?? "") !== "" && roleRef.apiGroup !== RBAC_GROUP)
    found.push(fieldNotSupported("roleRef.apiGroup", roleRef.apiGroup, [RBAC_GROUP]));
  const kinds = kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.includes(roleRef.kind)) found.push(fieldNotSupported("roleRef.kind", roleRef.kind, kinds));
  if (roleRef.name === "") found.push(fieldRequired("roleRef.name"));
  else found.push(...pathSegmentProblems(roleRef.name).map((one) => fieldInvalid("roleRef.name", roleRef.name, one)));
  return [...found, ...subjects.flatMap((one, at) => subjectProblems(one, `subjects[${at}]`, kind))];
}

const SUBJECTS: Readonly<Record<string, string>> = { Group: RBAC_GROUP, ServiceAccount: "", User: RBAC_GROUP };

function subjectProblems(
  subject: Subject,
  field: string,
  binding: RoleBinding["kind"] | ClusterRoleBinding["kind"],
): StatusCause[] {
  const { kind, apiGroup = "", name, namespace = "" } = subject;
  const found: StatusCause[] = [];
  if (name === "") found.push(fieldRequired(`${field}.name`));
  const group = Object.hasOwn(SUBJECTS, kind) ? SUBJECTS[kind] : undefined;
  if (group === undefined) return [...found, fieldNotSupported(`${field}.kind`, kind, Object.keys(SUBJECTS))];
  if (apiGroup !== "" && apiGroup !== group) found.push(fieldNotSupported(`${field}.apiGroup`, apiGroup, [group]));
  if (kind === "ServiceAccount" && binding === "ClusterRoleBinding" && namespace === "")
    found.push(fieldRequired(`${field}.namespace`));
  return found;
}
