import type { Awaitable, User } from "@virtual-workspaces/framework";

/** What is asked about: a verb on an object of `apis.kcp.io`. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly name: string;
}

/**
 * Whether somebody may do something in a logical cluster, though it is not theirs (kcp's deep SubjectAccessReview): the
 * roles of that logical cluster decide, and not whether the user could enter it.
 */
export type MayAccess = (user: User, cluster: string, attributes: AccessAttributes) => Awaitable<boolean>;

/** The question whether somebody may bind an export, which is asked in the export's logical cluster. */
export function bindAttributes(name: string): AccessAttributes {
  return { verb: "bind", group: "apis.kcp.io", version: "v1alpha1", resource: "apiexports", name };
}
