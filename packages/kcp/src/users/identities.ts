import type { Identity, User } from "@virtual-workspaces/framework";
import { ANONYMOUS, AUTHENTICATED, authenticatedUser, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import {
  BINDING_SUBJECT_PREFIX,
  CLUSTER_NAME_EXTRA,
  GLOBAL_SERVICE_ACCOUNT_PREFIX,
  SCOPES_EXTRA,
  SERVICE_ACCOUNT_PREFIX,
  WARRANT_EXTRA,
} from "./users.ts";
import { extraOf, formatWarrant, isServiceAccount, parseWarrant } from "./warrants.ts";

const PREFIX = BINDING_SUBJECT_PREFIX;

/**
 * Somebody as a maximal permission policy speaks of them (kcp's `PrefixUser`): `apis.kcp.io:binding:` before name and
 * groups, of warrants too. A service account goes by its name for other workspaces; one that does not say whose it is, is
 * anonymous. Asked about with a deep review in the exporter's logical cluster, it says what the policy allows.
 */
export function prefixedUser(identity: Identity): Identity {
  const { uid, groups } = identity;
  if (!isServiceAccount(identity)) {
    const extra = { ...identity.extra, ...prefixedWarrants(identity) };
    return { name: PREFIX + identity.name, uid, groups: groups.map((group) => PREFIX + group), extra };
  }
  const [home, ...more] = extraOf(identity, CLUSTER_NAME_EXTRA);
  if (home === undefined || more.length > 0) {
    const login = groups.includes(AUTHENTICATED) ? AUTHENTICATED : UNAUTHENTICATED;
    return { name: PREFIX + ANONYMOUS, uid: "", groups: [PREFIX + login], extra: {} };
  }
  const { [SCOPES_EXTRA]: _scopes, [CLUSTER_NAME_EXTRA]: _home, ...extra } = identity.extra;
  const account = identity.name.slice(SERVICE_ACCOUNT_PREFIX.length);
  return {
    name: `${PREFIX}${GLOBAL_SERVICE_ACCOUNT_PREFIX}${home}:${account}`,
    uid,
    groups: groups.map((group) => PREFIX + group),
    extra: { ...extra, ...prefixedWarrants(identity) },
  };
}

function prefixedWarrants(identity: Identity): Identity["extra"] {
  const warrants = extraOf(identity, WARRANT_EXTRA);
  if (warrants.length === 0) return {};
  const prefixed = warrants.flatMap((text) => {
    const warrant = parseWarrant(text);
    return warrant === undefined ? [] : formatWarrant(prefixedUser(warrant));
  });
  return { [WARRANT_EXTRA]: prefixed };
}

/** What only the system itself says of anybody. */
const SYSTEM = "system:";
/** Extra keys that mean something to kcp: scopes and warrants, for two. */
const KCP = "kcp.io";

/** Why somebody may not come in by the word of others than the operator: users of the system are its own. */
export function rejectionOf({ name }: User): string | undefined {
  return name.startsWith(SYSTEM) ? `the names of its users may not begin with ${SYSTEM}` : undefined;
}

/**
 * Whoever others than the operator of a server say that it is, in a logical cluster: no user of the system (`undefined`), in no
 * group of the system but that of those who have logged in, with nothing that kcp reads but where they come from. Their rights end
 * there, by the scope that authorization looks at (kcp's per-workspace authentication).
 */
export function confinedUser(user: User, cluster: string): User | undefined {
  if (rejectionOf(user) !== undefined) return undefined;
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
