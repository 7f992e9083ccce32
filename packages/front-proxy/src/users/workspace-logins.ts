import type { Authenticator } from "@virtual-workspaces/framework";
import type { PathIndex, WorkspaceAuthentication } from "@virtual-workspaces/kcp";
import type { Routes } from "../passing/routes.ts";
import { filtered, type GroupFilter } from "./groups.ts";

/** What says who logs in to which workspace. */
export interface WorkspaceLoginsOptions {
  readonly authentication: WorkspaceAuthentication;
  readonly index: PathIndex;
  readonly routes: Routes;
  readonly groups: GroupFilter;
}

/**
 * Who logs in to the workspace that `{cluster}` of a mapped path stands for, by its type: servers behind cannot know that. Of where the path has none,
 * leads nowhere, or to a mount, nobody does.
 */
export function workspaceLogins(options: WorkspaceLoginsOptions): (path: string) => readonly Authenticator[] {
  const { authentication, index, routes, groups } = options;
  return (path) => {
    const cluster = routes.of(path)?.clusterIn(path);
    const found = cluster === undefined || cluster.startsWith("system:") ? undefined : index.lookup(cluster);
    const logins = found?.kind === "cluster" ? authentication.of(found) : undefined;
    return logins === undefined ? [] : [filtered(logins, groups)];
  };
}
