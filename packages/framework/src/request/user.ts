/** Identity of a caller as data: what a stream may keep and a source gets. */
export interface Identity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** An authenticated caller (Kubernetes' `user.Info`). Immutable: decisions about it are cached and shared. */
export class User implements Identity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;

  constructor(identity: Partial<Identity> & { readonly name: string }) {
    this.name = identity.name;
    this.uid = identity.uid ?? "";
    this.groups = Object.freeze([...(identity.groups ?? [])]);
    this.extra = frozen(identity.extra ?? {});
    Object.freeze(this);
  }

  /** Whether the caller is a member of `group`, compared exactly. */
  in(group: string): boolean {
    return this.groups.includes(group);
  }
}

function frozen(extra: Identity["extra"]): Identity["extra"] {
  const copies = Object.entries(extra).map(([key, values]) => [key, Object.freeze([...values])] as const);
  return Object.freeze(Object.fromEntries(copies));
}

/** Group of all authenticated users (Kubernetes adds it on every login). */
export const AUTHENTICATED = "system:authenticated";
/** Group of callers without credentials, where they are admitted. */
export const UNAUTHENTICATED = "system:unauthenticated";
/** Kubernetes' name for callers without credentials. */
export const ANONYMOUS = "system:anonymous";

/**
 * Returns the user with {@link AUTHENTICATED} added, as Kubernetes does after any authenticator (`AuthenticatedGroupAdder`),
 * unless a proxy in front marks the user as anonymous or {@link UNAUTHENTICATED}.
 */
export function authenticatedUser(identity: Partial<Identity> & { readonly name: string }): User {
  const { name, groups = [] } = identity;
  const told = name === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return new User(told ? identity : { ...identity, groups: [...groups, AUTHENTICATED] });
}
