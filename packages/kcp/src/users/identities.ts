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
 * Returns an identity as a maximal permission policy names it (kcp's `PrefixUser`): with `apis.kcp.io:binding:` before the user and
 * groups, also in warrants. A service account gets its global name; one without a logical cluster becomes anonymous. A deep review
 * of the result in the exporter's logical cluster gives what the policy allows.
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

/** Prefix of names that only the system may assign. */
const SYSTEM = "system:";
/** Part of extra keys that kcp interprets, such as scopes and warrants. */
const KCP = "kcp.io";

/** Returns why a user may not authenticate through another party than the operator: system users are reserved. */
export function rejectionOf({ name }: User): string | undefined {
  return name.startsWith(SYSTEM) ? `the names of its users must not begin with ${SYSTEM}` : undefined;
}

/**
 * Returns the user of a foreign issuer, confined to a logical cluster (kcp's per-workspace authentication). Security: the function
 * rejects system users (`undefined`), and strips kcp's extras and all system groups but `system:authenticated`. The scope, which the
 * authorizer checks, limits the user's rights to the logical cluster.
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
