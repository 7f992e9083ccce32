import { type Authenticator, User } from "@virtual-workspaces/framework";
import { ANONYMOUS, clientCertificate, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";

/** Filter of the groups that the proxy reports to upstreams. A final `*` stands for any text. */
export interface GroupFilter {
  /** Groups to report, and no others (`--authentication-pass-on-groups`). @default all */
  readonly passOn?: readonly string[];
  /** Groups not to report, even if `passOn` has them (`--authentication-drop-groups`). @default {@link DROPPED_GROUPS} */
  readonly drop?: readonly string[];
}

/**
 * Groups that kcp's front proxy drops. Security: they grant rights within the system, which no external caller may have.
 * Administrators of workspaces behind a front proxy are in `system:kcp:external-logical-cluster-admin`.
 */
export const DROPPED_GROUPS: readonly string[] = [
  MASTERS_GROUP,
  "system:kcp:logical-cluster-admin",
  "system:kcp:initializer:*",
  "system:kcp:terminator:*",
];

/** Returns a function that removes dropped groups from users. */
export function withoutGroups(filter: GroupFilter): (user: User) => User {
  const passes = passesFilter(filter);
  const known = new WeakMap<User, User>();
  return (user) => {
    if (user.groups.every(passes)) return user;
    const found = known.get(user);
    if (found !== undefined) return found;
    const { name, uid, extra } = user;
    const made = new User({ name, uid, extra, groups: user.groups.filter(passes) });
    known.set(user, made);
    return made;
  };
}

/** Returns the authenticator without dropped groups in its users. */
export function withGroupFilter(authenticator: Authenticator, filter: GroupFilter): Authenticator {
  const left = withoutGroups(filter);
  const without = (user: User | undefined): User | undefined => user && left(user);
  return {
    ...authenticator,
    authenticate: (request, connection) => {
      const verdict = authenticator.authenticate(request, connection);
      return verdict instanceof Promise ? verdict.then(without) : without(verdict);
    },
  };
}

function passesFilter({ passOn = [], drop = DROPPED_GROUPS }: GroupFilter): (group: string) => boolean {
  const dropped = among(drop);
  const passed = passOn.length === 0 ? () => true : among(passOn);
  return (group) => passed(group) && !dropped(group);
}

function among(patterns: readonly string[]): (group: string) => boolean {
  const names = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return (group) => names.has(group) || prefixes.some((prefix) => group.startsWith(prefix));
}

const UNKNOWN_CALLER = new User({ name: ANONYMOUS, groups: [UNAUTHENTICATED] });

/**
 * Accepts unknown callers without a client certificate: the upstream authenticates them by their token, or rejects them.
 * Security: an unknown client certificate is 401, as in kcp. Must be the last authenticator, after those of the view.
 */
export const unknownCallers: Authenticator = {
  name: "strangers",
  authenticate: (request) => (clientCertificate(request) === undefined ? UNKNOWN_CALLER : undefined),
};

/** Authenticates no one, so that the server strips the identity headers that clients send. */
export function identityHeaderGuard(headers: readonly string[]): Authenticator {
  return {
    name: "identity-headers",
    identityHeaders: headers.map((name) => name.toLowerCase()),
    authenticate: () => undefined,
  };
}

/** Whether the proxy forwards the caller without an identity. */
export function isUnknownCaller(user: User): boolean {
  return user === UNKNOWN_CALLER;
}
