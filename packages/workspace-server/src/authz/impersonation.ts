import { ApiError } from "@virtual-workspaces/apimachinery";
import { type AuthorizeRequest, type Authorizer, type Identity, User } from "@virtual-workspaces/framework";
import { AUTHENTICATED } from "@virtual-workspaces/framework/authn";
import type { ImpersonationRequest, ImpersonationRule } from "@virtual-workspaces/framework/authz";
import {
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  extraOf,
  formatWarrant,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
  parseWarrant,
  SCOPES_EXTRA,
  WARRANT_EXTRA,
  warrantsOf,
} from "@virtual-workspaces/kcp/users";
import type { ClusterParams } from "./cluster-request.ts";
import { LIFECYCLE_GROUP_PREFIXES } from "./cluster-request.ts";

/** Groups that impersonation grants only to users who already are members. */
const SPECIAL: ReadonlySet<string> = new Set([
  MASTERS_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  BOOTSTRAPPER_GROUP,
  KCP_ADMIN_GROUP,
  AUTHENTICATED,
]);

/**
 * Authorizes impersonation in a workspace, by RBAC's verb `impersonate`, or by Kubernetes' constrained verbs. Security: only `system:masters` gains groups
 * that count beyond the workspace, also through warrants. An additional scope confines the impersonated user and its
 * warrants to the workspace.
 *
 * @param authorizer the shard's authorizer of requests
 */
export function workspaceImpersonation(authorizer: Authorizer<ClusterParams>): ImpersonationRule {
  // The params are those of any view; one without a logical cluster has no `cluster`.
  const rule = (question: AuthorizeRequest<unknown>) => authorizer(question as AuthorizeRequest<ClusterParams>);
  return Object.assign(rule, { become, constrained: true });
}

function become({ user, impersonated, params }: ImpersonationRequest): User {
  if (user.in(MASTERS_GROUP)) return impersonated;
  const { cluster = "*" } = params;
  if (cluster === "*" || !mayBe(user, impersonated))
    throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: REFUSED });
  return new User({ ...identityOf(impersonated), extra: confinedExtra(impersonated, cluster) });
}

const REFUSED = "impersonation is not allowed for the requestor";

function mayBe(user: User, wanted: Pick<Identity, "groups" | "extra">): boolean {
  const fits = wanted.groups.every((group) => !isSpecial(group) || user.in(group));
  return fits && warrantsOf(wanted).every((warrant) => mayBe(user, warrant));
}

/** Includes groups of lifecycle views. Security: kcp omits them, so workspace admins could bypass exporters' policies. */
function isSpecial(group: string): boolean {
  return SPECIAL.has(group) || LIFECYCLE_GROUP_PREFIXES.some((prefix) => group.startsWith(prefix));
}

function confinedExtra(identity: Pick<Identity, "extra">, cluster: string): Identity["extra"] {
  const warrants = extraOf(identity, WARRANT_EXTRA).map((text) => {
    const warrant = parseWarrant(text);
    return warrant === undefined ? text : formatWarrant({ ...warrant, extra: confinedExtra(warrant, cluster) });
  });
  return {
    ...identity.extra,
    ...(warrants.length > 0 && { [WARRANT_EXTRA]: warrants }),
    [SCOPES_EXTRA]: [...extraOf(identity, SCOPES_EXTRA), `cluster:${cluster}`],
  };
}

function identityOf({ name, uid, groups, extra }: User): Identity {
  return { name, uid, groups, extra };
}
