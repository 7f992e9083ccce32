// Why: a walk down a path of five names reads five Maps, and of a million workspaces hardly any is in a processor cache. This table
// reads one slot and its logical cluster, and compares the way up with the path.
import { type ClusterNode, targetOf, UNFILED, workspaceIn } from "./nodes.ts";

const COLON = 58;
const SEED = 0x11c9dc5;
const FIRST_SLOTS = 64;

/** Mixes a character into an FNV-1a hash of 30 bits, which V8 keeps unboxed. A path's hash continues its parent's. */
const mixed = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193) & 0x3fffffff;

function hashedOn(before: number, text: string, { start, end }: Piece): number {
  let hash = before;
  for (let at = start; at < end; at++) hash = mixed(hash, text.charCodeAt(at));
  return hash;
}

interface Piece {
  readonly start: number;
  readonly end: number;
}

/** Returns the hash of a path with one name. */
const hashOfName = (name: string): number => hashedOn(SEED, name, { start: 0, end: name.length });

/** Returns the hash of a child's path from its parent's hash. */
const hashBelow = (parent: number, name: string): number =>
  hashedOn(mixed(parent, COLON), name, { start: 0, end: name.length });

/** Returns the hashes of a path and of the part before its last colon. */
export function hashesOf(path: string, colon: number): { readonly whole: number; readonly above: number } {
  const above = hashedOn(SEED, path, { start: 0, end: colon });
  return { whole: hashedOn(above, path, { start: colon, end: path.length }), above };
}

/**
 * Hash table of logical clusters by the workspace path that leads to each. The table is a hint: `find` compares names, and a
 * logical cluster may exist under a path that the table does not have.
 */
export class ByPath {
  #slots: (ClusterNode | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  #size = 0;

  /** Returns the logical cluster for the part of a path with this hash, if all workspaces on the way are in order. */
  find(path: string, { hash, end }: { readonly hash: number; readonly end: number }): ClusterNode | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const node = this.#slots[slot];
      if (node === undefined) return undefined;
      if (node.hash === hash && leadsTo(node, path, end)) return node;
    }
  }

  /** Adds a node that the table does not have. */
  add(node: ClusterNode): void {
    if (++this.#size * 2 > this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#put(node);
  }

  /** Removes a node by the hash that it was added with. */
  remove(node: ClusterNode): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let free = spread(node.hash) & mask;
    while (slots[free] !== node) {
      if (slots[free] === undefined) return;
      free = (free + 1) & mask;
    }
    this.#size--;
    // Moves up the following nodes, so that no probe stops at a gap.
    for (let at = (free + 1) & mask; ; at = (at + 1) & mask) {
      const next = slots[at];
      if (next === undefined) break;
      const wanted = spread(next.hash) & mask;
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      slots[free] = next;
      free = at;
    }
    slots[free] = undefined;
    if (this.#size * 8 < slots.length && slots.length > FIRST_SLOTS) this.#resize(slots.length / 2);
  }

  #put(node: ClusterNode): void {
    const mask = this.#slots.length - 1;
    let slot = spread(node.hash) & mask;
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & mask;
    this.#slots[slot] = node;
  }

  #resize(slots: number): void {
    const before = this.#slots;
    this.#slots = new Array(slots).fill(undefined);
    for (const node of before) if (node !== undefined) this.#put(node);
  }
}

/** Separates names that differ only in their last letters. */
const spread = (hash: number): number => hash ^ (hash >>> 15);

/** Returns whether the workspaces on the way to a node have these names and are in order. */
function leadsTo(node: ClusterNode, path: string, pathEnd: number): boolean {
  let end = pathEnd;
  let at = node;
  while (at.shard !== undefined) {
    if (at.name.length === end) return path.startsWith(at.name);
    const { parent, linkName } = at;
    if (parent === undefined || linkName === undefined || !at.isInOrder) return false;
    const start = end - linkName.length;
    if (start < 1 || path.charCodeAt(start - 1) !== COLON || !path.startsWith(linkName, start)) return false;
    end = start - 1;
    at = parent;
  }
  return false;
}

/** Maximum number of descendants to rehash at once. Lookups of the others walk down the path. */
const REFILED = 10_000;

/** Rehashes a logical cluster and its descendants after a change of its first workspace, and updates `isInOrder`. */
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

/** Updates only `isInOrder` of the children, after a change of the logical cluster's shard. */
export function settleBelow(node: ClusterNode): void {
  for (const below of firstBelow(node)) below.isInOrder = workspaceIn(node, below.linkName ?? "") === below;
}

/** @returns whether the path has changed */
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

/** Without a workspace, the path is the name of the logical cluster. */
const hashOf = ({ hash, name }: ClusterNode): number => (hash === UNFILED ? hashOfName(name) : hash);

/** Yields the children whose first workspace is in this logical cluster, on any shard. */
function* firstBelow(node: ClusterNode): Generator<ClusterNode> {
  for (let list = node.below; list !== undefined; list = list.next)
    for (const [name, entry] of list.byName) {
      const target = targetOf(entry);
      if (target?.parent === node && target.linkName === name) yield target;
    }
}
