import { HOME_PATH_PREFIX, homeClusterName } from "@virtual-workspaces/kcp";

/** Returns the names in a path that a change may name, with the logical cluster of a home. */
export function namesIn(path: string): readonly string[] {
  const names = path.split(":");
  const [first, user] = names;
  return first === HOME_PATH_PREFIX && user !== undefined ? [...names, homeClusterName(user)] : names;
}
