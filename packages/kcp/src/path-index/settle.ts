import { type ByPath, hashBelow, hashOfName } from "./by-path.ts";
import { type ClusterNode, targetOf, UNFILED, workspaceIn } from "./node.ts";

/** How many below one that has another path are filed anew at once. Of the others every lookup goes down its path. */
const REFILED = 10_000;

/** Files a logical cluster, and those below it, by where its first workspace leads from, and says whether that is in order. */
export function settle(node: ClusterNode, byPath: ByPath): void {
  const { parent, linkName } = node;
  node.isInOrder = parent !== undefined && linkName !== undefined && workspaceIn(parent, linkName) === node;
  const changed = [node];
  for (let count = 0; count < REFILED; count++) {
    const next = changed.pop();
    if (next === undefined) return;
    if (refile(next, byPath)) for (const below of firstBelow(next)) changed.push(below);
  }
}

/** Only whether those below are in order: the shard of the logical cluster is another. */
export function settleBelow(node: ClusterNode): void {
  for (const below of firstBelow(node)) below.isInOrder = workspaceIn(node, below.linkName ?? "") === below;
}

/** @returns whether it has another path now */
function refile(node: ClusterNode, byPath: ByPath): boolean {
  const { parent, linkName } = node;
  const before = hashOf(node);
  const hash = parent === undefined || linkName === undefined ? UNFILED : hashBelow(hashOf(parent), linkName);
  if (hash === node.hash) return false;
  if (node.hash !== UNFILED) byPath.remove(node);
  node.hash = hash;
  if (hash !== UNFILED) byPath.add(node);
  return hashOf(node) !== before;
}

/** Where nothing leads to it, its path is its name. */
const hashOf = ({ hash, name }: ClusterNode): number => (hash === UNFILED ? hashOfName(name) : hash);

/** Those whose first workspace is in it, whichever shard says so. */
function* firstBelow(node: ClusterNode): Generator<ClusterNode> {
  for (let list = node.below; list !== undefined; list = list.next)
    for (const [name, entry] of list.byName) {
      const target = targetOf(entry);
      if (target?.parent === node && target.linkName === name) yield target;
    }
}
