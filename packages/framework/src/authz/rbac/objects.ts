import type { ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";

/** The group of these kinds, and of the roles and subjects that they name. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** What may be done (rbac/v1 PolicyRule): verbs on resources, or on paths that are no objects. `*` is any. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  /** "" is the core group. */
  readonly apiGroups?: readonly string[] | undefined;
  /** `pods`, `pods/log`, `*` for all; a star, a slash and `log` for the logs of whatever has them. */
  readonly resources?: readonly string[] | undefined;
  /** Only these objects: no create or deletecollection can be allowed so, and lists only by `metadata.name`. */
  readonly resourceNames?: readonly string[] | undefined;
  /** Paths below the view, `/apis`; `/apis/*` is everything below. Only for bindings of the whole cluster. */
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

/** Rules for everything, or for the namespaces that they are bound in (rbac/v1). */
export interface ClusterRole extends Typed<"ClusterRole"> {
  readonly rules?: readonly PolicyRule[] | undefined;
  /** Whose rules it has, by their labels, in place of its own. */
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] | undefined } | undefined;
}

/** Who a role is for. */
export interface Subject {
  readonly kind: "User" | "Group" | "ServiceAccount";
  /** @default the group of RBAC for users and groups, "" for service accounts: there are no others */
  readonly apiGroup?: string | undefined;
  readonly name: string;
  /** Of a service account. @default the binding's own */
  readonly namespace?: string | undefined;
}

/** Which role. */
export interface RoleRef {
  /** @default "rbac.authorization.k8s.io" */
  readonly apiGroup?: string | undefined;
  readonly kind: "ClusterRole" | "Role";
  readonly name: string;
}

/** Gives a role to subjects within a namespace (rbac/v1). */
export interface RoleBinding extends Typed<"RoleBinding"> {
  readonly metadata: Meta & { readonly name: string; readonly namespace: string };
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | undefined;
}

/** Gives a ClusterRole to subjects everywhere (rbac/v1). */
export interface ClusterRoleBinding extends Typed<"ClusterRoleBinding"> {
  readonly roleRef: RoleRef & { readonly kind: "ClusterRole" };
  readonly subjects?: readonly Subject[] | undefined;
}

/** What RBAC decides by. */
export type RbacObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** Which of them: name enough to remove one. */
export interface RbacKey {
  readonly kind: RbacObject["kind"];
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined };
}

/** Gives somebody a role. */
export type RbacBinding = RoleBinding | ClusterRoleBinding;
