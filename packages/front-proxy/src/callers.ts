import { type Authenticator, User } from "@virtual-workspaces/framework";
import { ANONYMOUS, clientCertificate, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";

/** Groups that servers behind a front proxy are told of. `*` at the end stands for any text. */
export interface GroupFilter {
  /** Only these (`--authentication-pass-on-groups`). @default all */
  readonly passOn?: readonly string[];
  /** Not these, whatever `passOn` says (`--authentication-drop-groups`). @default {@link DROPPED_GROUPS} */
  readonly drop?: readonly string[];
}

/**
 * Those that kcp's front proxy drops: they give rights within the system, which nobody is to have from outside. Who administers workspaces
 * through a front proxy is in `system:kcp:external-logical-cluster-admin`.
 */
export const DROPPED_GROUPS: readonly string[] = [
  MASTERS_GROUP,
  "system:kcp:logical-cluster-admin",
  "system:kcp:initializer:*",
  "system:kcp:terminator:*",
];

/** The same users, who are in no group that is dropped. */
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

/** The same authenticator, whose users are in no group that is dropped. */
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
 * Lets in who is not known here, and shows no client certificate: the server behind finds out by the token, or says that somebody has to log in.
 * No certificate gets that far, so that who shows one that nobody knows here is 401, as in kcp. Comes last, behind what a view knows.
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

/** Whether the caller is one of these: nothing is said of them. */
export function isUnknownCaller(user: User): boolean {
  return user === UNKNOWN_CALLER;
}
