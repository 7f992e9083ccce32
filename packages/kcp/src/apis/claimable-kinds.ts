import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** A resource that every workspace has, as much as it takes to ask for it. */
export interface ClaimableKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
  /** Whether it has `/status`. */
  readonly status: boolean;
}

type Row = readonly [kind: string, plural: string, status?: "status"];

/** Kinds of one group and scope. */
const of = (group: string, scope: ClaimableKind["scope"], ...rows: readonly Row[]): ClaimableKind[] => {
  const version = group === "core.kcp.io" ? "v1alpha1" : "v1";
  return rows.map(([kind, plural, status]) => ({ group, version, kind, plural, scope, status: status !== undefined }));
};

/** What exports can claim without an identity, since every workspace has it (kcp's `builtin.go`). */
export const claimableKinds: readonly ClaimableKind[] = Object.freeze([
  ...of("", "Cluster", ["Namespace", "namespaces", "status"]),
  ...of(
    "",
    "Namespaced",
    ["ConfigMap", "configmaps"],
    ["Event", "events"],
    ["ResourceQuota", "resourcequotas", "status"],
    ["Secret", "secrets"],
    ["ServiceAccount", "serviceaccounts"],
  ),
  ...of(
    "admissionregistration.k8s.io",
    "Cluster",
    ["MutatingAdmissionPolicy", "mutatingadmissionpolicies"],
    ["MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"],
    ["MutatingWebhookConfiguration", "mutatingwebhookconfigurations"],
    ["ValidatingAdmissionPolicy", "validatingadmissionpolicies", "status"],
    ["ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"],
    ["ValidatingWebhookConfiguration", "validatingwebhookconfigurations"],
  ),
  ...of("apiextensions.k8s.io", "Cluster", ["CustomResourceDefinition", "customresourcedefinitions", "status"]),
  ...of("authentication.k8s.io", "Cluster", ["TokenReview", "tokenreviews"]),
  ...of("authorization.k8s.io", "Cluster", ["SubjectAccessReview", "subjectaccessreviews"]),
  ...of("authorization.k8s.io", "Namespaced", ["LocalSubjectAccessReview", "localsubjectaccessreviews"]),
  ...of("certificates.k8s.io", "Cluster", ["CertificateSigningRequest", "certificatesigningrequests", "status"]),
  ...of("coordination.k8s.io", "Namespaced", ["Lease", "leases"]),
  ...of("core.kcp.io", "Cluster", ["LogicalCluster", "logicalclusters", "status"]),
  ...of("events.k8s.io", "Namespaced", ["Event", "events"]),
  ...of(
    "rbac.authorization.k8s.io",
    "Cluster",
    ["ClusterRole", "clusterroles"],
    ["ClusterRoleBinding", "clusterrolebindings"],
  ),
  ...of("rbac.authorization.k8s.io", "Namespaced", ["Role", "roles"], ["RoleBinding", "rolebindings"]),
]);

const NAMES: ReadonlySet<string> = new Set(claimableKinds.map(({ group, plural }) => `${plural}.${group}`));

/** Whether every workspace has a resource that exports can claim, so that a claim need not say whose it is. */
export function isClaimable({ group, resource }: GroupResource): boolean {
  return NAMES.has(`${resource}.${group}`);
}

const UNKEPT: ReadonlySet<string> = new Set(["authorization.k8s.io", "authentication.k8s.io"]);

/** Whether objects of a resource are answered and not kept: nothing is there that a label could be on. */
export function isReview({ group, resource }: GroupResource): boolean {
  return UNKEPT.has(group) && resource.endsWith("reviews");
}
