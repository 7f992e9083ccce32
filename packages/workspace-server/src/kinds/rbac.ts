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
import { bindingMessage, clusterRoleMessage, roleMessage } from "./protobuf.ts";
import { createdAt, roleProblems, rulesSchema } from "./rbac-rules.ts";
import { bindingColumns, bindingDefaults, bindingProblems, bindingSchema, RBAC_GROUP } from "./rbac-subjects.ts";

/** What a Role holds. */
export interface RoleContent {
  rules?: PolicyRule[] | null;
}

/** What a ClusterRole holds. */
export interface ClusterRoleKindContent extends RoleContent {
  aggregationRule?: NonNullable<ClusterRoleContent["aggregationRule"]>;
}

/** What a RoleBinding or ClusterRoleBinding holds. */
export interface BindingContent {
  subjects?: Subject[];
  roleRef: RoleRef;
}

const common = { group: RBAC_GROUP, version: "v1", subresources: { status: false } } as const;
/** Names of roles are what their paths can hold: `system:kcp:admin`. */
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
  description: "Role is a set of rules of what may be done in its namespace, for RoleBindings.",
  schema: { type: "object", properties: { rules: rulesSchema } },
  columns: roleColumns,
  protobuf: roleMessage,
  strategy: { ...strategy, problems: (role) => roleProblems(role, true) },
});

const selectors = {
  ...objects("A ClusterRole that any of them matches is in it.", {
    matchLabels: textMap("Labels, all of them."),
    matchExpressions: objects("What holds of labels, all of it.", {
      key: text("The label."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: texts("For In and NotIn."),
    }),
  }),
};

/** `rbac.authorization.k8s.io/v1` ClusterRole. */
export const ClusterRole: Resource<ClusterRoleKindContent> = new Resource<ClusterRoleKindContent>({
  ...common,
  kind: "ClusterRole",
  scope: "Cluster",
  description: "ClusterRole is a set of rules of what may be done, for ClusterRoleBindings and RoleBindings.",
  schema: {
    type: "object",
    properties: {
      rules: rulesSchema,
      aggregationRule: object("If set, the rules are those of other ClusterRoles, and kept so.", {
        clusterRoleSelectors: selectors,
      }),
    },
  },
  columns: roleColumns,
  protobuf: clusterRoleMessage,
  strategy: { ...strategy, problems: (role) => roleProblems(role, false) },
});

/** `rbac.authorization.k8s.io/v1` RoleBinding. */
export const RoleBinding: Resource<BindingContent> = new Resource<BindingContent>({
  ...common,
  kind: "RoleBinding",
  scope: "Namespaced",
  description: "RoleBinding gives a Role or ClusterRole to users, within its namespace.",
  schema: bindingSchema,
  columns: bindingColumns,
  protobuf: bindingMessage,
  strategy: bindings(true),
});

/** `rbac.authorization.k8s.io/v1` ClusterRoleBinding. */
export const ClusterRoleBinding: Resource<BindingContent> = new Resource<BindingContent>({
  ...common,
  kind: "ClusterRoleBinding",
  scope: "Cluster",
  description: "ClusterRoleBinding gives a ClusterRole to users, everywhere.",
  schema: bindingSchema,
  columns: bindingColumns,
  protobuf: bindingMessage,
  strategy: bindings(false),
});

export const rbacKinds: readonly BuiltInKind[] = [
  { resource: ClusterRoleBinding as unknown as Resource, verbs: STANDARD_VERBS },
  { resource: ClusterRole, verbs: STANDARD_VERBS },
  { resource: RoleBinding as unknown as Resource, verbs: STANDARD_VERBS },
  { resource: Role, verbs: STANDARD_VERBS },
];
