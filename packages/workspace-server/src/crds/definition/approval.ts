import {
  fieldInvalid,
  fieldRequired,
  type KubeObject,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";

/** Says where a kind in one of Kubernetes' own groups was approved, or that it was not. */
const APPROVED_ANNOTATION = "api-approved.kubernetes.io";

const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** What the annotation comes to (apihelpers' APIApprovalState), with the reason in Kubernetes' words. */
export interface Approval {
  readonly state: "Approved" | "Unapproved" | "Missing" | "Invalid";
  readonly message: string;
}

/** Whether a group is the Kubernetes community's own, whose kinds have to be approved. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

export function approvalOf({ metadata }: Pick<KubeObject, "metadata">): Approval {
  const value = metadata.annotations?.[APPROVED_ANNOTATION] ?? "";
  const must = `protected groups must have approval annotation ${quote(APPROVED_ANNOTATION)}`;
  if (value === "") return { state: "Missing", message: `${must}, ${SEE}` };
  if (value.startsWith("unapproved")) return { state: "Unapproved", message: `not approved: ${quote(value)}` };
  if (/^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/?#\s]/.test(value) && URL.canParse(value))
    return { state: "Approved", message: `approved in ${value}` };
  return { state: "Invalid", message: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

/** What is wrong with the annotation; what was wrong before may stay so. */
export function* approvalProblems(
  group: string,
  object: Pick<KubeObject, "metadata">,
  before: Pick<KubeObject, "metadata"> | undefined,
): Generator<StatusCause, void> {
  if (!isProtectedGroup(group)) return;
  const { state, message } = approvalOf(object);
  if (before !== undefined && approvalOf(before).state === state) return;
  const field = `metadata.annotations[${APPROVED_ANNOTATION}]`;
  if (state === "Missing") yield fieldRequired(field, message);
  if (state === "Invalid") yield fieldInvalid(field, object.metadata.annotations?.[APPROVED_ANNOTATION], message);
}
