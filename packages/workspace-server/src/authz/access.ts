import type { Awaitable, User } from "@virtual-workspaces/framework";

/** Something that somebody may do or not, of an object. */
export interface AskedAccess {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** @default "", it is of the whole logical cluster */
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Whether a user may do something in a logical cluster, as RBAC there says. Of the chain that decides about requests all is
 * asked but the access to the workspace itself (kcp's deep SubjectAccessReview).
 */
export type IsAllowed = (user: User, cluster: string, access: AskedAccess) => Awaitable<boolean>;
