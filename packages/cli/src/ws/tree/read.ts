import { isApiError, joinWorkspacePath } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { WORKSPACES, type Workspace } from "../kinds.ts";
import type { Session } from "../session.ts";
import { isAlive, type TreeNode } from "./node.ts";
import { walkedAt } from "./walk.ts";

/** Where servers of ours show the workspaces of all shards that whoever asks may enter. */
const VIEW = "/services/workspaces";
const ROOT = "root";
/** Of a Workspace there, the path of its parent. */
const PARENT = "kcp.io/path";

/**
 * What is in a workspace, and in what is in it: by one list, where the server shows all of them as one tree, and else, as at a kcp, list by list.
 *
 * @throws ApiError when the workspace cannot be listed, and on any answer of the view but 401, 403 and 404
 */
export async function treeAt(session: Session, path: string): Promise<TreeNode> {
  const all = await listed(session);
  const parents = byParent(all ?? []);
  // A path by another name than the workspace's own, what is behind a mount, or what may not be entered: for the server to say.
  const isKnown = path === ROOT ? parents.has(ROOT) : all?.some((one) => pathOf(one) === path && !one.spec.mount);
  return isKnown ? { path, children: below(path, parents) } : walkedAt(session, path);
}

async function listed(session: Session): Promise<readonly Workspace[] | undefined> {
  const client = new Client({ upstream: session.upstream, ...session.as, cluster: "*", path: VIEW });
  try {
    return (await client.resource(WORKSPACES).all(session.patience)).items;
  } catch (error) {
    // There is no such view, or none for this user, who may be known in their workspace alone. On any other answer a walk would
    // pass off another tree as this one.
    if (isApiError(error) && [401, 403, 404].includes(error.code)) return undefined;
    throw error;
  }
}

function byParent(all: readonly Workspace[]): ReadonlyMap<string, readonly Workspace[]> {
  return Map.groupBy(all.filter(isAlive), ({ metadata }) => metadata.annotations?.[PARENT] ?? "");
}

function below(path: string, parents: ReadonlyMap<string, readonly Workspace[]>): readonly TreeNode[] {
  return [...(parents.get(path) ?? [])].sort(byName).map((workspace) => {
    const own = joinWorkspacePath(path, nameOf(workspace));
    const children = workspace.spec.mount === undefined ? below(own, parents) : [];
    return { path: own, workspace, children };
  });
}

const nameOf = ({ metadata }: Workspace): string => metadata.name ?? "";
const pathOf = (workspace: Workspace): string =>
  joinWorkspacePath(workspace.metadata.annotations?.[PARENT] ?? "", nameOf(workspace));
const byName = (a: Workspace, b: Workspace): number => (nameOf(a) < nameOf(b) ? -1 : 1);
