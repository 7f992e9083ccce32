import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** Resources that every workspace has and exports can claim without an identity (kcp's `builtin.go`), by group. */
const CLAIMABLE: Readonly<Record<string, readonly string[]>> = {
  "": ["configmaps", "events", "namespaces", "resourcequotas", "secrets", "serviceaccounts"],
  "admissionregistration.k8s.io": [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
  ],
  "apiextensions.k8s.io": ["customresourcedefinitions"],
  "authentication.k8s.io": ["tokenreviews"],
  "authorization.k8s.io": ["localsubjectaccessreviews", "subjectaccessreviews"],
  "certificates.k8s.io": ["certificatesigningrequests"],
  "coordination.k8s.io": ["leases"],
  "core.kcp.io": ["logicalclusters"],
  "events.k8s.io": ["events"],
  "rbac.authorization.k8s.io": ["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
};

/** Whether every workspace has a resource that exports can claim, so that a claim need not say whose it is. */
export function isClaimable({ group, resource }: GroupResource): boolean {
  return Object.hasOwn(CLAIMABLE, group) && CLAIMABLE[group]?.includes(resource) === true;
}

const UNKEPT = new Set(["authorization.k8s.io", "authentication.k8s.io"]);

/** Whether objects of a resource are answered and not kept: nothing is there that a label could be on. */
export function isReview({ group, resource }: GroupResource): boolean {
  return UNKEPT.has(group) && resource.endsWith("reviews");
}
