import { baseName, isApiError, joinWorkspacePath, parentPath } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { WORKSPACES, type Workspace } from "../session/kinds.ts";
import { ConcurrencyLimit } from "../session/requests.ts";
import type { Session } from "../session/session.ts";

/** A workspace and its children. */
export interface TreeNode {
  readonly path: string;
  /** Unset for the topmost node, and when the user cannot access it. */
  readonly workspace?: Workspace;
  readonly children: readonly TreeNode[];
  /** Reason why the children are unknown. */
  readonly problem?: string;
  /** Whether the user can access only workspaces below it. */
  readonly denied?: true;
}

/** Path of this project's view of the workspaces that the user can access, on all shards. */
const VIEW = "/services/workspaces";
const ROOT = "root";
/** Annotation of Workspaces in that view: path of the parent. */
const PARENT = "kcp.io/path";

/**
 * Reads the tree below a workspace. If the server has the view, these are the workspaces that the user can access and the
 * parents that lead to them, with one list. Otherwise, as for kcp, each workspace that the user can list is listed. An empty
 * tree of the view does not tell whether the topmost workspace exists and the user can access it.
 *
 * @throws ApiError when a workspace without the view cannot be listed, and on answers of the view other than 401, 403 and 404
 */
export async function readTree(session: Session, path: string): Promise<TreeNode> {
  const all = await listed(session, "*");
  if (all === undefined) return walkTree(session, path);
  const parents = byParent(all);
  // The root has no Workspace.
  if (path === ROOT || all.some((one) => pathOf(one) === path && !one.spec.mount))
    return { path, children: below(path, parents) };
  // Asks about other paths: homes, aliases, and workspaces without access. The view does not know paths behind mounts.
  const children = await listed(session, path);
  if (children === undefined) return walkTree(session, path);
  const [parent = path] = children.map(parentOf);
  return { path, children: below(path, parents, parent) };
}

/** Lists workspaces of the view, in a parent or all (`*`). `undefined` if the view or the parent does not exist. */
async function listed(session: Session, cluster: string): Promise<readonly Workspace[] | undefined> {
  const client = new Client({ upstream: session.upstream, ...session.as, cluster, path: VIEW });
  try {
    return (await client.resource(WORKSPACES).all(session.patience)).items;
  } catch (error) {
    // The view does not exist, or not for this user, who may exist in one workspace only. After another answer, a walk could
    // return a different tree.
    if (isApiError(error) && [401, 403, 404].includes(error.code)) return undefined;
    throw error;
  }
}

/** A child of a workspace. It has no Workspace if the user can access only workspaces below it. */
interface Child {
  readonly name: string;
  readonly workspace?: Workspace;
}

/** Returns children by the paths of their parents. */
function byParent(all: readonly Workspace[]): ReadonlyMap<string, readonly Child[]> {
  const known = new Set(all.map(pathOf));
  const children = all
    .filter(isAlive)
    .map((workspace) => ({ parent: parentOf(workspace), child: { name: nameOf(workspace), workspace } as Child }));
  for (const { parent } of children) {
    const above = parentPath(parent);
    if (above === undefined || known.has(parent)) continue;
    known.add(parent);
    children.push({ parent: above, child: { name: baseName(parent) } });
  }
  const groups = Map.groupBy(children, ({ parent }) => parent);
  return new Map([...groups].map(([parent, group]) => [parent, group.map(({ child }) => child)]));
}

/** Returns the tree below `path`, which is an alias of `parent` if the two differ. */
function below(
  path: string,
  parents: ReadonlyMap<string, readonly Child[]>,
  parent: string = path,
): readonly TreeNode[] {
  return [...(parents.get(parent) ?? [])].sort(byName).map(({ name, workspace }): TreeNode => {
    const own = joinWorkspacePath(path, name);
    const children = (): readonly TreeNode[] => below(own, parents, joinWorkspacePath(parent, name));
    if (workspace === undefined) return { path: own, denied: true, children: children() };
    return { path: own, workspace, children: workspace.spec.mount === undefined ? children() : [] };
  });
}

const nameOf = ({ metadata }: Workspace): string => metadata.name ?? "";
const parentOf = ({ metadata }: Workspace): string => metadata.annotations?.[PARENT] ?? "";
const pathOf = (workspace: Workspace): string => joinWorkspacePath(parentOf(workspace), nameOf(workspace));
const byName = (a: Child, b: Child): number => (a.name < b.name ? -1 : 1);

/** Excludes workspaces in deletion, which may be gone at any time. */
export const isAlive = ({ metadata }: Workspace): boolean => metadata.deletionTimestamp === undefined;

/**
 * Returns the workspaces of a tree, the topmost first. Omits mounted ones, which belong to another server or workspace, and
 * those that the user cannot access.
 */
export function ownPaths({ path, workspace, denied, children }: TreeNode): readonly string[] {
  if (workspace?.spec.mount !== undefined) return [];
  return [...(denied ? [] : [path]), ...children.flatMap(ownPaths)];
}

/** Returns the nodes that could not be listed. */
export function problemsIn(node: TreeNode): readonly TreeNode[] {
  return [...(node.problem === undefined ? [] : [node]), ...node.children.flatMap(problemsIn)];
}

/** Maximum number of concurrent lists. */
const AT_ONCE = 8;

/**
 * Reads the tree list by list. Mounted workspaces are leaves, because their target may lead back here. A workspace that
 * cannot be listed is a leaf with the reason, except the topmost one.
 *
 * @throws ApiError when the topmost workspace cannot be listed
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
      // A server that is not kcp has no workspaces.
      if (isApiError(error) && error.code === 404) return [];
      throw error;
    }
  }
}
