import type { Workspace } from "../kinds.ts";

/** A workspace, and what is in it. */
export interface TreeNode {
  readonly path: string;
  /** None for the one that one is in. */
  readonly workspace?: Workspace;
  readonly children: readonly TreeNode[];
  /** Why what is in it is not known. */
  readonly problem?: string;
}

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
