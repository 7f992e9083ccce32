import { type Identity, User } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA } from "@virtual-workspaces/kcp";

/** What of a user's extras authorization looks at. What else there is differs from one token to the next. */
const DECIDING: readonly string[] = [CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA];

/** All of a user that decides which workspaces they may enter, as text: users of equal texts may enter the same. */
export function readerKey({ name, groups, extra }: Identity): string {
  const extras = DECIDING.filter((key) => Object.hasOwn(extra, key)).map((key) => [key, extra[key]] as const);
  return JSON.stringify([name, [...new Set(groups)].sort(), extras]);
}

/** The user that {@link readerKey} made a text of. */
export function readerOf(key: string): User {
  const [name, groups, extras] = JSON.parse(key) as [string, string[], [string, string[]][]];
  return new User({ name, groups, extra: Object.fromEntries(extras) });
}
