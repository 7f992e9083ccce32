import { isApiError, joinWorkspacePath } from "@virtual-workspaces/apimachinery";
import { AtOnce } from "../at-once.ts";
import { WORKSPACES, type Workspace } from "../kinds.ts";
import type { Session } from "../session.ts";
import { isAlive, type TreeNode } from "./node.ts";

/** How many lists are asked for at once. */
const AT_ONCE = 8;

/**
 * Reads the tree, list by list. Mounted workspaces are leaves: what is in them is another's, and may lead back here. What cannot be
 * listed is a leaf with its reason, but for the workspace that was asked for.
 *
 * @throws ApiError when that one cannot be listed
 */
export async function walkedAt(session: Session, path: string): Promise<TreeNode> {
  const walk = new Walk(session);
  const children = await walk.below(path);
  return { path, children };
}

class Walk {
  readonly #session: Session;
  readonly #atOnce = new AtOnce(AT_ONCE);

  constructor(session: Session) {
    this.#session = session;
  }

  async below(path: string): Promise<readonly TreeNode[]> {
    const workspaces = await this.#list(path);
    return await Promise.all(workspaces.filter(isAlive).map((workspace) => this.#node(path, workspace)));
  }

  async #node(parent: string, workspace: Workspace): Promise<TreeNode> {
    const path = joinWorkspacePath(parent, workspace.metadata.name ?? "");
    if (workspace.spec.mount !== undefined) return { path, workspace, children: [] };
    try {
      return { path, workspace, children: await this.below(path) };
    } catch (error) {
      if (!isApiError(error)) throw error;
      return { path, workspace, children: [], problem: error.message };
    }
  }

  async #list(path: string): Promise<readonly Workspace[]> {
    try {
      const workspaces = this.#session.client(path).resource(WORKSPACES);
      return (await this.#atOnce.run(() => workspaces.all(this.#session.patience))).items;
    } catch (error) {
      // What is no kcp has no workspaces.
      if (isApiError(error) && error.code === 404) return [];
      throw error;
    }
  }
}
