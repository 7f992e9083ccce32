import type { RbacObject } from "@virtual-workspaces/framework";
import { KCP_ROLES } from "./kcp-roles.ts";
import { KUBERNETES_ROLES } from "./kubernetes-roles.ts";

/**
 * The ClusterRoles and ClusterRoleBindings of the logical cluster `system:admin`: Kubernetes' for people, and kcp's. A start
 * adds of them what is missing, rules and subjects too, and leaves what administrators have added.
 */
export const bootstrapRoles: readonly RbacObject[] = [...KUBERNETES_ROLES, ...KCP_ROLES];
