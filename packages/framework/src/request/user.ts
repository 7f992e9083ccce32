/** Who asks, as data: what a stream may keep and what is sent to a source. */
export interface Identity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** An authenticated caller (Kubernetes' `user.Info`). Immutable: verdicts about it are cached and shared. */
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

  /** Whether the caller is a member of `group`, exactly as spelt. */
  in(group: string): boolean {
    return this.groups.includes(group);
  }
}

function frozen(extra: Identity["extra"]): Identity["extra"] {
  const copies = Object.entries(extra).map(([key, values]) => [key, Object.freeze([...values])] as const);
  return Object.freeze(Object.fromEntries(copies));
}

/** Group of everybody whose credentials were accepted (Kubernetes adds it on every login). */
export const AUTHENTICATED = "system:authenticated";
/** Group of those who showed no credentials, where they are let in at all. */
export const UNAUTHENTICATED = "system:unauthenticated";
/** Kubernetes' name for those who showed no credentials. */
export const ANONYMOUS = "system:anonymous";

/**
 * The user with {@link AUTHENTICATED} added, as Kubernetes does after any authenticator (`AuthenticatedGroupAdder`): not
 * to somebody whom a proxy in front calls anonymous or {@link UNAUTHENTICATED}.
 */
export function authenticatedUser(identity: Partial<Identity> & { readonly name: string }): User {
  const { name, groups = [] } = identity;
  const told = name === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return new User(told ? identity : { ...identity, groups: [...groups, AUTHENTICATED] });
}
