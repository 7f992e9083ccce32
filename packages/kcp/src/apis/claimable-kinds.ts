import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** Resource that every workspace has, with the fields that a claim needs. */
export interface ClaimableKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
  /** Whether the resource has the subresource `/status`. */
  readonly status: boolean;
}

type Row = readonly [kind: string, plural: string, status?: "status"];

/** Returns the kinds of one group and scope. */
const of = (group: string, scope: ClaimableKind["scope"], ...rows: readonly Row[]): ClaimableKind[] => {
  const version = group === "core.kcp.io" ? "v1alpha1" : "v1";
  return rows.map(([kind, plural, status]) => ({ group, version, kind, plural, scope, status: status !== undefined }));
};

/** Resources that an export can claim without an identity, since every workspace has them (kcp's `builtin.go`). */
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

/** Returns whether every workspace has this claimable resource, so that a claim on it needs no `identityHash`. */
export function isClaimable({ group, resource }: GroupResource): boolean {
  return NAMES.has(`${resource}.${group}`);
}

const UNKEPT: ReadonlySet<string> = new Set(["authorization.k8s.io", "authentication.k8s.io"]);

/** Returns whether a resource is a review, such as `subjectaccessreviews`, which is never stored and so has no labels. */
export function isReview({ group, resource }: GroupResource): boolean {
  return UNKEPT.has(group) && resource.endsWith("reviews");
}
