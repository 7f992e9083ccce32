import type { ClusterRole, ClusterRoleBinding, PolicyRule } from "@virtual-workspaces/framework";

/** On what Kubernetes ships: a start adds what is missing, and takes away nothing. */
const SHIPPED = {
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
} as const;

const API_VERSION = "rbac.authorization.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io";

/** Verbs on resources of a group. */
export function on(group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { verbs, apiGroups: [group], resources };
}

/** Methods on paths that are no objects. */
export function onPaths(paths: readonly string[], verbs: readonly string[]): PolicyRule {
  return { verbs, nonResourceURLs: paths };
}

export interface RoleParts {
  readonly rules?: readonly PolicyRule[];
  /** Of which roles it is made: those with the label `rbac.authorization.k8s.io/aggregate-to-<name>`. */
  readonly of?: string;
  /** Part of which role it is. */
  readonly partOf?: string;
}

export function role(name: string, { rules = [], of, partOf }: RoleParts): ClusterRole {
  const aggregation = (to: string) => ({ [`${RBAC}/aggregate-to-${to}`]: "true" });
  const labels = { ...SHIPPED.labels, ...(partOf !== undefined && aggregation(partOf)) };
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name, annotations: SHIPPED.annotations, labels },
    rules,
    ...(of !== undefined && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregation(of) }] } }),
  };
}

export function binding(name: string, to: string, groups: readonly string[]): ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name, ...SHIPPED },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: to },
    subjects: groups.map((group) => ({ kind: "Group", apiGroup: RBAC, name: group })),
  };
}
