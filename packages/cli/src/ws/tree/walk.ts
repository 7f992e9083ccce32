import { isApiError, joinWorkspacePath } from "@virtual-workspaces/apimachinery";
import { WORKSPACES, type Workspace } from "../kinds.ts";
import type { Session } from "../session.ts";

/** A workspace, and what is in it. */
export interface TreeNode {
  readonly path: string;
  /** None for the one that one is in. */
  readonly workspace?: Workspace;
  readonly children: readonly TreeNode[];
  /** Why what is in it is not known. */
  readonly problem?: string;
}

/** How many lists are asked for at once. */
const AT_ONCE = 8;

/**
 * Reads the tree, list by list. Mounted workspaces are leaves: what is in them is another's, and may lead back here. What cannot be
 * listed is a leaf with its reason, but for the workspace that was asked for.
 *
 * @throws ApiError when that one cannot be listed
 */
export async function treeAt(session: Session, path: string): Promise<TreeNode> {
  const walk = new Walk(session);
  const children = await walk.below(path);
  return { path, children };
}

class Walk {
  readonly #session: Session;
  readonly #waiting: (() => void)[] = [];
  #free = AT_ONCE;

  constructor(session: Session) {
    this.#session = session;
  }

  async below(path: string): Promise<readonly TreeNode[]> {
    const workspaces = await this.#list(path);
    // One that is deleted may be there no more in a moment.
    const alive = workspaces.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return await Promise.all(alive.map((workspace) => this.#node(path, workspace)));
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
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const { items } = await this.#session.client(path).resource(WORKSPACES).all(this.#session.patience);
      return items;
    } catch (error) {
      // What is no kcp has no workspaces.
      if (isApiError(error) && error.code === 404) return [];
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
