import type { ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";

/** API group of these kinds, and of the roles and subjects that they reference. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Permissions (rbac/v1 PolicyRule): verbs on resources or on non-resource paths. `*` means any. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  /** API groups; "" is the core group. */
  readonly apiGroups?: readonly string[] | undefined;
  /** Resources: `pods`, `pods/log`, `*` for all; a star, a slash and `log` for the logs of every resource. */
  readonly resources?: readonly string[] | undefined;
  /** Names that the rule is limited to. Such a rule cannot allow create or deletecollection, and lists only by `metadata.name`. */
  readonly resourceNames?: readonly string[] | undefined;
  /** Paths below the view, such as `/apis`; `/apis/*` matches everything below. For cluster-wide bindings only. */
  readonly nonResourceURLs?: readonly string[] | undefined;
}

type Meta = Pick<ObjectMeta, "name"> & Partial<ObjectMeta>;

interface Typed<Kind extends string> {
  /** @default "rbac.authorization.k8s.io/v1" */
  readonly apiVersion?: "rbac.authorization.k8s.io/v1" | undefined;
  readonly kind: Kind;
  readonly metadata: Meta & { readonly name: string };
}

/** Rules for one namespace (rbac/v1). */
export interface Role extends Typed<"Role"> {
  readonly metadata: Meta & { readonly name: string; readonly namespace: string };
  readonly rules?: readonly PolicyRule[] | undefined;
}

/** Cluster-wide rules, or rules for the namespaces that a RoleBinding binds it in (rbac/v1). */
export interface ClusterRole extends Typed<"ClusterRole"> {
  readonly rules?: readonly PolicyRule[] | undefined;
  /** Labels of the ClusterRoles whose rules replace its own. */
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] | undefined } | undefined;
}

/** Subject of a binding. */
export interface Subject {
  readonly kind: "User" | "Group" | "ServiceAccount";
  /** API group. @default the RBAC group for users and groups, "" for service accounts: no other is valid */
  readonly apiGroup?: string | undefined;
  readonly name: string;
  /** Namespace of a service account. @default the binding's own */
  readonly namespace?: string | undefined;
}

/** Reference to a role. */
export interface RoleRef {
  /** @default "rbac.authorization.k8s.io" */
  readonly apiGroup?: string | undefined;
  readonly kind: "ClusterRole" | "Role";
  readonly name: string;
}

/** Grants a role to subjects within a namespace (rbac/v1). */
export interface RoleBinding extends Typed<"RoleBinding"> {
  readonly metadata: Meta & { readonly name: string; readonly namespace: string };
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | undefined;
}

/** Grants a ClusterRole to subjects cluster-wide (rbac/v1). */
export interface ClusterRoleBinding extends Typed<"ClusterRoleBinding"> {
  readonly roleRef: RoleRef & { readonly kind: "ClusterRole" };
  readonly subjects?: readonly Subject[] | undefined;
}

/** Objects that an RBAC policy consists of. */
export type RbacObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** Identifies an RBAC object, to delete it. */
export interface RbacKey {
  readonly kind: RbacObject["kind"];
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined };
}

/** Binding of either scope. */
export type RbacBinding = RoleBinding | ClusterRoleBinding;
