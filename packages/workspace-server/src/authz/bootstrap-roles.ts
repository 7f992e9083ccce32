import { AUTHENTICATED, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RbacObject } from "@virtual-workspaces/framework/authz";
import {
  BINDING_SUBJECT_PREFIX,
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
} from "@virtual-workspaces/kcp/users";

/** Annotation and label of Kubernetes' default roles: a startup adds missing rules and removes none. */
const SHIPPED = {
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
} as const;

const API_VERSION = "rbac.authorization.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io";

/** Rule with verbs on resources of a group. */
function on(group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { verbs, apiGroups: [group], resources };
}

/** Rule with methods on non-resource paths. */
function onPaths(paths: readonly string[], verbs: readonly string[]): PolicyRule {
  return { verbs, nonResourceURLs: paths };
}

interface RoleParts {
  readonly rules?: readonly PolicyRule[];
  /** Name of an aggregated role: it combines the roles with the label `rbac.authorization.k8s.io/aggregate-to-<name>`. */
  readonly of?: string;
  /** Name of the aggregated role that includes this one. */
  readonly partOf?: string;
}

function role(name: string, { rules = [], of, partOf }: RoleParts): ClusterRole {
  const aggregation = (to: string) => ({ [`${RBAC}/aggregate-to-${to}`]: "true" });
  const labels = { ...SHIPPED.labels, ...(partOf !== undefined && aggregation(partOf)) };
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name, annotations: SHIPPED.annotations, labels },
    // A controller writes the rules of an aggregated role: to ship some would reset them at each start.
    ...(of === undefined
      ? { rules }
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregation(of) }] } }),
  };
}

function binding(name: string, to: string, groups: readonly string[]): ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name, ...SHIPPED },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: to },
    subjects: groups.map((group) => ({ kind: "Group", apiGroup: RBAC, name: group })),
  };
}

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";
const CERTIFICATES = "certificates.k8s.io";

const VERSION_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...VERSION_PATHS].sort();

/**
 * Kubernetes' default roles for users. `admin`, `edit` and `view` name workloads too: workspaces do not have them, but many
 * bind them. Roles for nodes, the scheduler and Kubernetes' controllers are omitted, since none of these exist here.
 */
const KUBERNETES_ROLES: readonly RbacObject[] = [
  role("cluster-admin", { rules: [on("*", ["*"], ["*"]), onPaths(["*"], ["*"])] }),
  role("admin", { of: "admin" }),
  role("edit", { of: "edit", partOf: "admin" }),
  role("view", { of: "view", partOf: "edit" }),
  role("system:aggregate-to-admin", {
    partOf: "admin",
    rules: [
      on(AUTHORIZATION, ["localsubjectaccessreviews"], ["create"]),
      on("rbac.authorization.k8s.io", ["rolebindings", "roles"], [...READ, ...WRITE]),
    ],
  }),
  role("system:aggregate-to-edit", {
    partOf: "edit",
    rules: [
      on("", ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"], READ),
      on("", ["serviceaccounts"], ["impersonate"]),
      on("", ["pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"], WRITE),
      on("", ["pods/eviction"], ["create"]),
      on(
        "",
        [
          "configmaps",
          "events",
          "persistentvolumeclaims",
          "replicationcontrollers",
          "replicationcontrollers/scale",
          "secrets",
          "serviceaccounts",
          "services",
          "services/proxy",
        ],
        WRITE,
      ),
      on("", ["serviceaccounts/token"], ["create"]),
      on(
        "apps",
        [
          "daemonsets",
          "deployments",
          "deployments/rollback",
          "deployments/scale",
          "replicasets",
          "replicasets/scale",
          "statefulsets",
          "statefulsets/scale",
        ],
        WRITE,
      ),
      on("autoscaling", ["horizontalpodautoscalers"], WRITE),
      on("batch", ["cronjobs", "jobs"], WRITE),
      on("policy", ["poddisruptionbudgets"], WRITE),
      on("networking.k8s.io", ["ingresses", "networkpolicies"], WRITE),
      on("coordination.k8s.io", ["leases"], [...READ, ...WRITE]),
    ],
  }),
  role("system:aggregate-to-view", {
    partOf: "view",
    rules: [
      on(
        "",
        [
          "configmaps",
          "endpoints",
          "persistentvolumeclaims",
          "persistentvolumeclaims/status",
          "pods",
          "replicationcontrollers",
          "replicationcontrollers/scale",
          "serviceaccounts",
          "services",
          "services/status",
        ],
        READ,
      ),
      on(
        "",
        [
          "bindings",
          "events",
          "limitranges",
          "namespaces/status",
          "pods/log",
          "pods/status",
          "replicationcontrollers/status",
          "resourcequotas",
          "resourcequotas/status",
        ],
        READ,
      ),
      on("", ["namespaces"], READ),
      on("discovery.k8s.io", ["endpointslices"], READ),
      on(
        "apps",
        [
          "controllerrevisions",
          "daemonsets",
          "daemonsets/status",
          "deployments",
          "deployments/scale",
          "deployments/status",
          "replicasets",
          "replicasets/scale",
          "replicasets/status",
          "statefulsets",
          "statefulsets/scale",
          "statefulsets/status",
        ],
        READ,
      ),
      on("autoscaling", ["horizontalpodautoscalers", "horizontalpodautoscalers/status"], READ),
      on("batch", ["cronjobs", "cronjobs/status", "jobs", "jobs/status"], READ),
      on("policy", ["poddisruptionbudgets", "poddisruptionbudgets/status"], READ),
      on("networking.k8s.io", ["ingresses", "ingresses/status", "networkpolicies"], READ),
    ],
  }),
  role("system:discovery", { rules: [onPaths(DISCOVERY_PATHS, ["get"])] }),
  role("system:public-info-viewer", { rules: [onPaths(VERSION_PATHS, ["get"])] }),
  role("system:basic-user", {
    rules: [
      on(AUTHORIZATION, ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["create"]),
      on(AUTHENTICATION, ["selfsubjectreviews"], ["create"]),
    ],
  }),
  role("system:service-account-issuer-discovery", {
    rules: [
      onPaths(
        [
          "/.well-known/openid-configuration",
          "/.well-known/openid-configuration/",
          "/openid/v1/jwks",
          "/openid/v1/jwks/",
        ],
        ["get"],
      ),
    ],
  }),
  role("system:auth-delegator", {
    rules: [on(AUTHENTICATION, ["tokenreviews"], ["create"]), on(AUTHORIZATION, ["subjectaccessreviews"], ["create"])],
  }),
  role("system:monitoring", {
    rules: [
      onPaths(
        [
          ...["/flagz", "/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis"],
          ...["/readyz", "/readyz/*", "/statusz"],
        ],
        ["get"],
      ),
    ],
  }),
  ...["kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving", "legacy-unknown"].map((signer) =>
    role(`system:${CERTIFICATES}:${signer}-approver`, {
      rules: [{ ...on(CERTIFICATES, ["signers"], ["approve"]), resourceNames: [`kubernetes.io/${signer}`] }],
    }),
  ),
  binding("cluster-admin", "cluster-admin", [MASTERS_GROUP]),
  binding("system:discovery", "system:discovery", [AUTHENTICATED]),
  binding("system:public-info-viewer", "system:public-info-viewer", [AUTHENTICATED, UNAUTHENTICATED]),
  binding("system:basic-user", "system:basic-user", [AUTHENTICATED]),
  binding("system:service-account-issuer-discovery", "system:service-account-issuer-discovery", [
    "system:serviceaccounts",
  ]),
  binding("system:monitoring", "system:monitoring", ["system:monitoring"]),
];

const WRITE_ONE = ["update", "patch", "get"];
const APIS = "apis.kcp.io";
const CACHE = "cache.kcp.io";
const CORE = "core.kcp.io";
const MIGRATION = "migration.kcp.io";
const TENANCY = "tenancy.kcp.io";

/** Roles that kcp adds to Kubernetes'. */
const KCP_ROLES: readonly RbacObject[] = [
  role("system:kcp:tenancy:reader", {
    rules: [
      on(TENANCY, ["workspaces"], READ),
      on(TENANCY, ["workspacetypes"], READ),
      on(CORE, ["logicalclusters"], READ),
    ],
  }),
  role(BOOTSTRAPPER_GROUP, { rules: [on("*", ["*"], ["*"]), onPaths(["*"], ["*"])] }),
  role(LOGICAL_CLUSTER_ADMIN_GROUP, {
    rules: [
      on(CORE, ["logicalclusters", "logicalclusters/status"], ["*"]),
      on(TENANCY, ["workspaces"], ["delete", "update", "get"]),
    ],
  }),
  role("system:kcp:workspace:access", { rules: [onPaths(["/"], ["access"])] }),
  role("system:kcp:metrics-reader", { rules: [onPaths(["/metrics"], ["get"])] }),
  role(EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP, {
    rules: [
      on(CORE, ["logicalclusters", "logicalclusters/status"], ["delete", "update", "get"]),
      on(TENANCY, ["workspaces"], ["delete", "update", "patch", "get"]),
      on("", ["serviceaccounts", "secrets"], ["get"]),
      onPaths(["/"], ["access"]),
      on("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
      on(APIS, ["apiexportendpointslices/status"], WRITE_ONE),
      on(APIS, ["apiexportendpointslices"], READ),
      on(CACHE, ["clustercachedresourceendpointslices/status"], WRITE_ONE),
      on(CACHE, ["clustercachedresourceendpointslices"], READ),
      on(TENANCY, ["workspaceauthenticationconfigurations"], ["get"]),
      on(MIGRATION, ["logicalclusterdumps"], ["create"]),
      on(MIGRATION, ["logicalclustermigrations", "logicalclustermigrations/status"], ["get", "update", "patch"]),
      on(APIS, ["apibindings"], ["list"]),
      on(APIS, ["apiexports"], ["get"]),
      on(APIS, ["apiresourceschemas"], ["get"]),
      on("apiextensions.k8s.io", ["customresourcedefinitions"], ["get", "create"]),
    ],
  }),
  binding("system:kcp:admin:cluster-admin", "cluster-admin", [KCP_ADMIN_GROUP]),
  binding(BOOTSTRAPPER_GROUP, BOOTSTRAPPER_GROUP, [BOOTSTRAPPER_GROUP, BINDING_SUBJECT_PREFIX + BOOTSTRAPPER_GROUP]),
  binding(LOGICAL_CLUSTER_ADMIN_GROUP, LOGICAL_CLUSTER_ADMIN_GROUP, [LOGICAL_CLUSTER_ADMIN_GROUP]),
  binding(EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP, EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP, [
    EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  ]),
];

/**
 * ClusterRoles and ClusterRoleBindings of the logical cluster `system:admin`: Kubernetes' for users, and kcp's. A
 * startup adds missing objects, rules and subjects, and keeps what administrators have added.
 */
export const bootstrapRoles: readonly RbacObject[] = [...KUBERNETES_ROLES, ...KCP_ROLES];
