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
    this.extra = Object.freeze({ ...identity.extra });
    Object.freeze(this);
  }

  /** Whether the caller is a member of `group`, exactly as spelt. */
  in(group: string): boolean {
    return this.groups.includes(group);
  }
}

/** Group of everybody whose credentials were accepted (Kubernetes adds it on every login). */
export const AUTHENTICATED = "system:authenticated";

/** The user with {@link AUTHENTICATED} added, as Kubernetes does after any authenticator but anonymous. */
export function authenticatedUser(identity: Partial<Identity> & { readonly name: string }): User {
  const groups = identity.groups ?? [];
  return new User({ ...identity, groups: groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED] });
}
