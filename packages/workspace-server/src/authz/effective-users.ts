import type { Identity } from "@virtual-workspaces/framework";
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
 * Whether somebody is themselves in a logical cluster (kcp's `IsInScope`): each value of the extra
 * `authentication.kcp.io/scopes` names it, and a service account is of that logical cluster or does not say of which.
 */
export function isInScope(identity: Identity, cluster: string): boolean {
  if (isServiceAccount(identity) && isForeign(identity, cluster)) return false;
  return isScopedTo(identity, cluster);
}

/**
 * Whose names and groups count in a logical cluster (kcp's `EffectiveUsers`): the user, where that is in scope; where not,
 * somebody anonymous who comes from elsewhere; a service account also under its name for other workspaces; and the same of
 * every warrant. Whoever has none of these extras is who they are.
 */
export function effectiveUsers(identity: Identity, cluster: string): readonly Named[] {
  if (isPlain(identity)) return [identity];
  const found: Named[] = [];
  collect(identity, cluster, found);
  return found;
}

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

/** What is left of somebody elsewhere: that they have logged in, and where. */
function stranger(identity: Identity): Named {
  const login = identity.groups.includes(AUTHENTICATED) ? AUTHENTICATED : UNAUTHENTICATED;
  return { name: ANONYMOUS, groups: [login, ...homesOf(identity).map((home) => CLUSTER_GROUP_PREFIX + home)] };
}

/**
 * Where somebody comes from: what all values of their scopes name, and for a service account its own logical cluster, if
 * these do not contradict each other. A group that they bring along says nothing: within their workspace its
 * administrator may impersonate any.
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
 * A service account as bindings in other workspaces name it, and in its own. One whose scopes shut out both its home and
 * the logical cluster that is asked about has been impersonated by the administrator of a third, who must not be able to
 * make up service accounts of others.
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
