import { isApiError, joinWorkspacePath } from "@virtual-workspaces/apimachinery";
import { WORKSPACES, type Workspace } from "../kinds.ts";
import type { Session } from "../session.ts";
import { type TreeNode, treeAt } from "./walk.ts";

/** Where a workspace is, in the tree that a server shows as a whole. */
const PATH = "kcp.io/path";

/**
 * The tree in one list, `/services/workspaces/clusters/*`: of what one may enter. It is walked, by what one may list, where that
 * is not served (404, and 403 of a kcp, which does not know it), and where it does not have the workspace that one is in: a home, a
 * mount, a logical cluster by its name.
 *
 * @throws ApiError on any other answer, TransportError on none: a walk would pass off another tree as this one
 */
export async function treeOf(session: Session, path: string): Promise<TreeNode> {
  const all = await listed(session);
  return (all && cutOut(all, path)) ?? (await treeAt(session, path));
}

async function listed(session: Session): Promise<readonly Workspace[] | undefined> {
  try {
    const workspaces = session.client("*", "/services/workspaces").resource(WORKSPACES);
    return (await workspaces.all(session.patience)).items;
  } catch (error) {
    if (isApiError(error) && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  }
}

function cutOut(all: readonly Workspace[], path: string): TreeNode | undefined {
  const byParent = Map.groupBy(all, ({ metadata }) => metadata.annotations?.[PATH]);
  const below = (parent: string): readonly TreeNode[] =>
    (byParent.get(parent) ?? [])
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((workspace) => {
        const at = joinWorkspacePath(parent, workspace.metadata.name ?? "");
        return { path: at, workspace, children: workspace.spec.mount === undefined ? below(at) : [] };
      });
  const children = below(path);
  return children.length > 0 ? { path, children } : undefined;
}
