// Why: going down a path of five names takes as many Maps, and of a million workspaces hardly one lies in a cache of the processor. Here
// it takes one slot and the logical cluster in it, whose way up is compared with the path.
import { type ClusterNode, targetOf, UNFILED, workspaceIn } from "./nodes.ts";

const COLON = 58;
const SEED = 0x11c9dc5;
const FIRST_SLOTS = 64;

/** FNV-1a, of as many bits as are kept without a box. A path's goes on where its parent's ends. */
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

/** The hash of a path that is one name. */
const hashOfName = (name: string): number => hashedOn(SEED, name, { start: 0, end: name.length });

/** The hash of the path to what is named so below what has this one. */
const hashBelow = (parent: number, name: string): number =>
  hashedOn(mixed(parent, COLON), name, { start: 0, end: name.length });

/** The hashes of a path, and of what is before its last colon. */
export function hashesOf(path: string, colon: number): { readonly whole: number; readonly above: number } {
  const above = hashedOn(SEED, path, { start: 0, end: colon });
  return { whole: hashedOn(above, path, { start: colon, end: path.length }), above };
}

/**
 * Logical clusters by the path of workspaces that leads to each. Only a guess: what is found is compared name by name, and what is not may be there all the
 * same, under a path that it is not filed by.
 */
export class ByPath {
  #slots: (ClusterNode | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  #size = 0;

  /** The logical cluster that a path, as far as it has this hash, leads to through workspaces that are in order. */
  find(path: string, { hash, end }: { readonly hash: number; readonly end: number }): ClusterNode | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const node = this.#slots[slot];
      if (node === undefined) return undefined;
      if (node.hash === hash && leadsTo(node, path, end)) return node;
    }
  }

  /** It must not be there. */
  add(node: ClusterNode): void {
    if (++this.#size * 2 > this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#put(node);
  }

  /** By the hash that it was added with. */
  remove(node: ClusterNode): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let free = spread(node.hash) & mask;
    while (slots[free] !== node) {
      if (slots[free] === undefined) return;
      free = (free + 1) & mask;
    }
    this.#size--;
    // Those behind it move up, so that nobody looking for them meets a gap.
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

/** Names that differ in their last letters are not next to each other. */
const spread = (hash: number): number => hash ^ (hash >>> 15);

/** Whether the workspaces that lead to it have these names, and are in order. */
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
