import { isApiError, joinWorkspacePath } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { WORKSPACES, type Workspace } from "../session/kinds.ts";
import { ConcurrencyLimit } from "../session/requests.ts";
import type { Session } from "../session/session.ts";

/** A workspace, and what is in it. */
export interface TreeNode {
  readonly path: string;
  /** None for the one that one is in. */
  readonly workspace?: Workspace;
  readonly children: readonly TreeNode[];
  /** Why what is in it is not known. */
  readonly problem?: string;
}

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
export async function readTree(session: Session, path: string): Promise<TreeNode> {
  const all = await listed(session);
  const parents = byParent(all ?? []);
  // A path by another name than the workspace's own, what is behind a mount, or what may not be entered: for the server to say.
  const isKnown = path === ROOT ? parents.has(ROOT) : all?.some((one) => pathOf(one) === path && !one.spec.mount);
  return isKnown ? { path, children: below(path, parents) } : walkTree(session, path);
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

/** One that is deleted may be there no more in a moment. */
export const isAlive = ({ metadata }: Workspace): boolean => metadata.deletionTimestamp === undefined;

/** The workspaces of a tree that one can be in, the topmost first; mounted ones are another's. */
export function ownPaths({ path, workspace, children }: TreeNode): readonly string[] {
  if (workspace?.spec.mount !== undefined) return [];
  return [path, ...children.flatMap(ownPaths)];
}

/** Those of a tree that could not be listed. */
export function problemsIn(node: TreeNode): readonly TreeNode[] {
  return [...(node.problem === undefined ? [] : [node]), ...node.children.flatMap(problemsIn)];
}

/** How many lists are asked for at once. */
const AT_ONCE = 8;

/**
 * Reads the tree, list by list. Mounted workspaces are leaves: what is in them is another's, and may lead back here. What cannot be
 * listed is a leaf with its reason, but for the workspace that was asked for.
 *
 * @throws ApiError when that one cannot be listed
 */
export async function walkTree(session: Session, path: string): Promise<TreeNode> {
  const walk = new Walk(session);
  const children = await walk.below(path);
  return { path, children };
}

class Walk {
  readonly #session: Session;
  readonly #atOnce = new ConcurrencyLimit(AT_ONCE);

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
