import type { RbacObject } from "@virtual-workspaces/framework";
import {
  BINDING_SUBJECT_PREFIX,
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
} from "@virtual-workspaces/kcp";
import { binding, on, onPaths, role } from "./make-role.ts";

const READ = ["get", "list", "watch"];
const WRITE_ONE = ["update", "patch", "get"];
const APIS = "apis.kcp.io";
const CACHE = "cache.kcp.io";
const CORE = "core.kcp.io";
const MIGRATION = "migration.kcp.io";
const TENANCY = "tenancy.kcp.io";

/** What kcp adds to Kubernetes' roles. */
export const KCP_ROLES: readonly RbacObject[] = [
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
