import { type Identity, User } from "@virtual-workspaces/framework";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import type { Named } from "@virtual-workspaces/framework/authz";
import {
  CLUSTER_GROUP_PREFIX,
  CLUSTER_NAME_EXTRA,
  extraOf,
  GLOBAL_SERVICE_ACCOUNT_PREFIX,
  isServiceAccount,
  SCOPES_EXTRA,
  SERVICE_ACCOUNT_PREFIX,
  WARRANT_EXTRA,
  warrantsOf,
} from "@virtual-workspaces/kcp/users";

const SCOPE = "cluster:";

/**
 * Reports whether an identity is valid in a logical cluster (kcp's `IsInScope`): each value of the extra
 * `authentication.kcp.io/scopes` names the cluster, and a service account belongs to it or does not state its cluster.
 */
export function isInScope(identity: Identity, cluster: string): boolean {
  if (isServiceAccount(identity) && isForeign(identity, cluster)) return false;
  return isScopedTo(identity, cluster);
}

/**
 * Returns the names and groups that count in a logical cluster (kcp's `EffectiveUsers`). A user out of scope becomes
 * anonymous, with the clusters it comes from. A service account also counts under its global name, and each warrant
 * counts in the same way. An identity without these extras is returned unchanged.
 */
export function effectiveUsers(identity: Identity, cluster: string): readonly Named[] {
  if (isPlain(identity)) return [identity];
  const known = KNOWN.get(identity);
  if (known?.cluster === cluster) return known.users;
  const users: Named[] = [];
  collect(identity, cluster, users);
  if (identity instanceof User) KNOWN.set(identity, { cluster, users });
  return users;
}

interface Effective {
  readonly cluster: string;
  readonly users: readonly Named[];
}

/** Names and groups of users in the logical cluster of their last request. They follow from the user alone, who is immutable. */
const KNOWN = new WeakMap<Identity, Effective>();

function isPlain(identity: Identity): boolean {
  const { extra } = identity;
  const marked = Object.hasOwn(extra, SCOPES_EXTRA) || Object.hasOwn(extra, WARRANT_EXTRA);
  return !marked && !(isServiceAccount(identity) && Object.hasOwn(extra, CLUSTER_NAME_EXTRA));
}

function collect(identity: Identity, cluster: string, into: Named[]): void {
  into.push(isInScope(identity, cluster) ? identity : stranger(identity));
  const everywhere = globalAccount(identity, cluster);
  if (everywhere !== undefined) into.push(everywhere);
  for (const warrant of warrantsOf(identity)) collect(warrant, cluster, into);
}

function isForeign(identity: Identity, cluster: string): boolean {
  const homes = extraOf(identity, CLUSTER_NAME_EXTRA);
  return homes.length > 0 && !(homes.length === 1 && homes[0] === cluster);
}

function isScopedTo(identity: Identity, cluster: string): boolean {
  return extraOf(identity, SCOPES_EXTRA).every((value) => value.split(",").includes(SCOPE + cluster));
}

/** Anonymous user for an identity out of scope: only whether it is authenticated, and its clusters. */
function stranger(identity: Identity): Named {
  const login = identity.groups.includes(AUTHENTICATED) ? AUTHENTICATED : UNAUTHENTICATED;
  return { name: ANONYMOUS, groups: [login, ...homesOf(identity).map((home) => CLUSTER_GROUP_PREFIX + home)] };
}

/**
 * Returns the clusters that an identity comes from: those that all values of its scopes name and, for a service
 * account, its own cluster unless the scopes exclude it. Security: the identity's groups are ignored, since the
 * administrator of a workspace may impersonate any group there.
 */
function homesOf(identity: Identity): readonly string[] {
  const [first, ...rest] = extraOf(identity, SCOPES_EXTRA).map(clustersIn);
  const shared = first?.filter((cluster) => rest.every((other) => other.includes(cluster)));
  if (!isServiceAccount(identity)) return shared ?? [];
  const homes = extraOf(identity, CLUSTER_NAME_EXTRA);
  if (homes.length > 1) return [];
  if (homes.length === 0) return shared ?? [];
  return homes.filter((home) => shared === undefined || shared.includes(home));
}

function clustersIn(value: string): readonly string[] {
  const parts = new Set(value.split(","));
  return [...parts].flatMap((part) => (part.startsWith(SCOPE) ? part.slice(SCOPE.length) : []));
}

/**
 * Returns a service account under its global name, which bindings of all workspaces can use. Security: `undefined` if
 * the scopes exclude both its home and this cluster. The administrator of a third workspace has impersonated it, and
 * must not be able to invent service accounts of other workspaces.
 */
function globalAccount(identity: Identity, cluster: string): Named | undefined {
  const [home, ...more] = extraOf(identity, CLUSTER_NAME_EXTRA);
  if (!isServiceAccount(identity) || home === undefined || more.length > 0) return undefined;
  if (!isScopedTo(identity, home) && !isScopedTo(identity, cluster)) return undefined;
  return {
    name: `${GLOBAL_SERVICE_ACCOUNT_PREFIX}${home}:${identity.name.slice(SERVICE_ACCOUNT_PREFIX.length)}`,
    groups: identity.groups.includes(AUTHENTICATED) ? [AUTHENTICATED] : [],
  };
}
