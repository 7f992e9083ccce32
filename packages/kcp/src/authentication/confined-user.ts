import { authenticatedUser, type User } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA } from "../well-known/user-extra.ts";

/** What only the system itself says of anybody. */
const SYSTEM = "system:";
/** Extra keys that mean something to kcp: scopes and warrants, for two. */
const KCP = "kcp.io";

/** Why somebody may not come in by the word of others than the operator: users of the system are its own. */
export function refusalOf({ name }: User): string | undefined {
  return name.startsWith(SYSTEM) ? `the names of its users may not begin with ${SYSTEM}` : undefined;
}

/**
 * Whoever others than the operator of a server say that it is, in a logical cluster: no user of the system (`undefined`), in no
 * group of the system but that of those who have logged in, with nothing that kcp reads but where they come from. Their rights end
 * there, by the scope that authorization looks at (kcp's per-workspace authentication).
 */
export function confinedUser(user: User, cluster: string): User | undefined {
  if (refusalOf(user) !== undefined) return undefined;
  const { name, uid, groups, extra } = user;
  return authenticatedUser({
    name,
    uid,
    groups: groups.filter((group) => !group.startsWith(SYSTEM)),
    extra: {
      ...Object.fromEntries(Object.entries(extra).filter(([key]) => !key.includes(KCP))),
      [SCOPES_EXTRA]: [`cluster:${cluster}`],
      [CLUSTER_NAME_EXTRA]: [cluster],
    },
  });
}
