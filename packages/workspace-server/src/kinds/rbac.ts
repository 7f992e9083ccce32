import { fieldInvalid, fieldRequired, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import type {
  ClusterRole as ClusterRoleContent,
  PolicyRule,
  RoleRef,
  Subject,
} from "@virtual-workspaces/framework/authz";
import type { Strategy } from "@virtual-workspaces/framework/resource";
import { allColumns, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { object, objects, text, textMap, texts } from "./descriptions.ts";
import { createdAt, roleProblems, rulesSchema } from "./rbac-rules.ts";
import { bindingColumns, bindingDefaults, bindingProblems, bindingSchema, RBAC_GROUP } from "./rbac-subjects.ts";
import { selectorProblems } from "./webhook-fields.ts";

/** Fields of a Role. */
export interface RoleContent {
  rules?: PolicyRule[] | null;
}

/** Fields of a ClusterRole. */
export interface ClusterRoleKindContent extends RoleContent {
  aggregationRule?: NonNullable<ClusterRoleContent["aggregationRule"]>;
}

/** Fields of a RoleBinding or ClusterRoleBinding. */
export interface BindingContent {
  subjects?: Subject[];
  roleRef: RoleRef;
}

const common = { group: RBAC_GROUP, version: "v1", subresources: { status: false } } as const;
/** Names of roles may be any path segment, such as `system:kcp:admin`. */
const strategy = { names: "segment", generation: false, unconditionalUpdate: true, createOnUpdate: true } as const;
const bindings = (namespaced: boolean): Strategy => ({
  ...strategy,
  defaults: bindingDefaults,
  problems: (binding, before) => bindingProblems(binding, before, namespaced),
});

const roleColumns = allColumns({ "Created At": createdAt });

/** `rbac.authorization.k8s.io/v1` Role. */
export const Role: Resource<RoleContent> = new Resource<RoleContent>({
  ...common,
  kind: "Role",
  scope: "Namespaced",
  description: "Role is a set of permissions in its namespace, for RoleBindings.",
  schema: { type: "object", properties: { rules: rulesSchema } },
  columns: roleColumns,
  strategy: { ...strategy, problems: (role) => roleProblems(role, true) },
});

const selectors = {
  ...objects("Selectors; ClusterRoles that match one of them are aggregated.", {
    matchLabels: textMap("Labels, all of which must match."),
    matchExpressions: objects("Requirements on labels, all of which must match.", {
      key: text("Key of the label."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: texts("Values for In and NotIn."),
    }),
  }),
};

/** `rbac.authorization.k8s.io/v1` ClusterRole. */
export const ClusterRole: Resource<ClusterRoleKindContent> = new Resource<ClusterRoleKindContent>({
  ...common,
  kind: "ClusterRole",
  scope: "Cluster",
  description: "ClusterRole is a set of permissions, for ClusterRoleBindings and RoleBindings.",
  schema: {
    type: "object",
    properties: {
      rules: rulesSchema,
      aggregationRule: object("If set, a controller combines the rules of other ClusterRoles here.", {
        clusterRoleSelectors: selectors,
      }),
    },
  },
  columns: roleColumns,
  strategy: { ...strategy, problems: (role) => [...roleProblems(role, false), ...aggregationProblems(role)] },
});

/** Validates the selectors of an aggregation rule (ValidateClusterRole). */
function aggregationProblems(role: KubeObject): StatusCause[] {
  const rule = role["aggregationRule"] as ClusterRoleKindContent["aggregationRule"];
  if (rule === undefined) return [];
  const { clusterRoleSelectors: all = [] } = rule;
  const field = "aggregationRule.clusterRoleSelectors";
  if (all.length === 0)
    return [fieldRequired(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  return all.flatMap((selector, at) => {
    const found = selectorProblems(selector, `${field}[${at}]`, { anyValue: false });
    return found.length === 0 ? [] : [...found, fieldInvalid(`${field}[${at}]`, null, "invalid label selector.")];
  });
}

/** `rbac.authorization.k8s.io/v1` RoleBinding. */
export const RoleBinding: Resource<BindingContent> = new Resource<BindingContent>({
  ...common,
  kind: "RoleBinding",
  scope: "Namespaced",
  description: "RoleBinding grants a Role or ClusterRole to users, within its namespace.",
  schema: bindingSchema,
  columns: bindingColumns,
  strategy: bindings(true),
});

/** `rbac.authorization.k8s.io/v1` ClusterRoleBinding. */
export const ClusterRoleBinding: Resource<BindingContent> = new Resource<BindingContent>({
  ...common,
  kind: "ClusterRoleBinding",
  scope: "Cluster",
  description: "ClusterRoleBinding grants a ClusterRole to users in all namespaces.",
  schema: bindingSchema,
  columns: bindingColumns,
  strategy: bindings(false),
});

export const rbacKinds: readonly BuiltInKind[] = [
  { resource: ClusterRoleBinding as unknown as Resource, verbs: STANDARD_VERBS },
  { resource: ClusterRole, verbs: STANDARD_VERBS },
  { resource: RoleBinding as unknown as Resource, verbs: STANDARD_VERBS },
  { resource: Role, verbs: STANDARD_VERBS },
];
