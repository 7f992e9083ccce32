import { ANONYMOUS, AUTHENTICATED, type Identity, UNAUTHENTICATED } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA } from "../well-known/user-extra.ts";
import { BINDING_SUBJECT_PREFIX, GLOBAL_SERVICE_ACCOUNT_PREFIX, SERVICE_ACCOUNT_PREFIX } from "../well-known/users.ts";
import { extraOf, formatWarrant, isServiceAccount, parseWarrant } from "./warrants.ts";

const PREFIX = BINDING_SUBJECT_PREFIX;

/**
 * Somebody as a maximal permission policy speaks of them (kcp's `PrefixUser`): `apis.kcp.io:binding:` before name and
 * groups, of warrants too. A service account goes by its name for other workspaces; one that does not say whose it is, is
 * anonymous.
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
