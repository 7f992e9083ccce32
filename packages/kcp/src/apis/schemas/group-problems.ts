import { fieldInvalid, fieldRequired, nameProblems, type StatusCause } from "@virtual-workspaces/apimachinery";

/** Groups of Kubernetes' own without a domain. */
const PLAIN_GROUPS: ReadonlySet<string> = new Set(["apps", "batch", "extensions", "policy", "autoscaling"]);

/** What is wrong with the group of a resource that is exported. The core group is "". */
export function groupProblems(group: string, path: string): StatusCause[] {
  if (group === "") return [];
  if (group === "core") return [fieldInvalid(path, group, "must be empty string for the core group")];
  const why = nameProblems(group);
  if (why.length > 0) return [fieldInvalid(path, group, why.join(","))];
  if (group.includes(".") || PLAIN_GROUPS.has(group)) return [];
  return [fieldInvalid(path, group, "should be a domain with at least one dot")];
}

/** Says that Kubernetes' community approved of a resource in one of its groups, or that it did not. */
const APPROVED = "api-approved.kubernetes.io";
const REASON = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Whether a group of Kubernetes' community was approved of, as an annotation must say (apihelpers' GetAPIApprovalState). */
export function approvalProblems(
  group: string,
  annotations: Readonly<Record<string, string>> | undefined,
): StatusCause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const path = `metadata.annotations[${APPROVED}]`;
  const approved = annotations?.[APPROVED] ?? "";
  const must = `protected groups must have approval annotation "${APPROVED}"`;
  if (approved === "") return [fieldRequired(path, `${must}, ${REASON}`)];
  if (approved.startsWith("unapproved") || isUrl(approved)) return [];
  const detail = `${must} with either a URL or a reason starting with "unapproved", ${REASON}`;
  return [fieldInvalid(path, approved, detail)];
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== "";
}
