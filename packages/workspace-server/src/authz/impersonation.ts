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

/** What nobody becomes a member of by impersonation who is none already. */
const SPECIAL: ReadonlySet<string> = new Set([
  MASTERS_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  BOOTSTRAPPER_GROUP,
  KCP_ADMIN_GROUP,
  AUTHENTICATED,
]);

/**
 * Who may act as whom in a workspace: whom its RBAC gives the verb `impersonate` on what they name. Nobody but
 * `system:masters` comes by a group that is more than a workspace's own in that way, also not by a warrant, and whoever they
 * become is confined to the workspace, by one more scope, as are the warrants that they bring along.
 *
 * @param authorizer the shard's own: what decides of every request
 */
export function workspaceImpersonation(authorizer: Authorizer<ClusterParams>): ImpersonationRule {
  // Params are those of whichever view is asked: one without a logical cluster is about none.
  const rule = (question: AuthorizeRequest<unknown>) => authorizer(question as AuthorizeRequest<ClusterParams>);
  return Object.assign(rule, { become });
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

/** kcp leaves the groups of lifecycle views out, which would let a workspace's administrator past exporters' policies. */
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
