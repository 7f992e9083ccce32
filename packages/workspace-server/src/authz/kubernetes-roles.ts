import { AUTHENTICATED, type RbacObject, UNAUTHENTICATED } from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp";
import { binding, on, onPaths, role } from "./make-role.ts";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";

const VERSION_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...VERSION_PATHS].sort();

/**
 * What Kubernetes ships for people. `admin`, `edit` and `view` name workloads too, which no workspace has of its own but
 * many bind; roles of nodes, of the scheduler and of Kubernetes' controllers are not among them: there are none here.
 */
export const KUBERNETES_ROLES: readonly RbacObject[] = [
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
        ["/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*"],
        ["get"],
      ),
    ],
  }),
  binding("cluster-admin", "cluster-admin", [MASTERS_GROUP]),
  binding("system:discovery", "system:discovery", [AUTHENTICATED]),
  binding("system:public-info-viewer", "system:public-info-viewer", [AUTHENTICATED, UNAUTHENTICATED]),
  binding("system:basic-user", "system:basic-user", [AUTHENTICATED]),
  binding("system:service-account-issuer-discovery", "system:service-account-issuer-discovery", [
    "system:serviceaccounts",
  ]),
  binding("system:monitoring", "system:monitoring", ["system:monitoring"]),
];
