// Why so: a million of these are kept. A logical cluster and the workspace that it stands behind are one object; what is
// rare (several shards that claim a logical cluster, several workspaces that lead to it) is kept beside, in Claims and Links.
import { ownCopy, type SharedText } from "./texts.ts";

/** A shard that something is known of. */
export interface ShardNode {
  readonly name: string;
  /** Undefined before the shard itself is known. */
  urls: { readonly baseURL: string; readonly virtualWorkspaceURL: string | undefined } | undefined;
  /** How many logical clusters it says it has. */
  clusters: number;
  /** Names of logical clusters and keys of workspaces that it had, and has no more. */
  readonly deleted: Deleted;
}

/** What one shard says of a logical cluster. */
export interface Claim {
  readonly shard: ShardNode;
  readonly type: SharedText | undefined;
  /** The path without its last name; undefined for a path of one name, and for none. */
  readonly prefix: SharedText | undefined;
  /** The last name of the path; undefined for none. */
  readonly base: string | undefined;
}

/** What no path has. */
export const UNFILED = -1;

/** A logical cluster that a shard has, that a workspace leads to, or that workspaces are in. */
export class ClusterNode {
  readonly name: string;
  /** The claim that counts, spread out: the shard, and so on. */
  shard: ShardNode | undefined = undefined;
  type: SharedText | undefined = undefined;
  prefix: SharedText | undefined = undefined;
  base: string | undefined = undefined;
  /** The first of the workspaces that lead here, if any does: in which logical cluster, under which name. */
  parent: ClusterNode | undefined = undefined;
  linkName: string | undefined = undefined;
  /** Whether that workspace counts, and leads here without more to say. */
  isInOrder = false;
  /** What it is filed by: of the path by that workspace, as it was known then. */
  hash: number = UNFILED;
  /** The workspaces in it, a list by shard; only those of the shard that has the logical cluster count. */
  below: Workspaces | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** A workspace that leads to a logical cluster and is in order is that logical cluster; others say more. */
export type Entry = ClusterNode | OddWorkspace;

/** A workspace that is a mount, or unavailable, or leads nowhere yet. */
export class OddWorkspace {
  readonly target: ClusterNode | undefined;
  readonly mountURL: string | undefined;
  readonly unavailable: boolean;

  constructor(target: ClusterNode | undefined, mountURL: string | undefined, unavailable: boolean) {
    this.target = target;
    this.mountURL = mountURL;
    this.unavailable = unavailable;
  }
}

/** All that do: a million workspaces may be made at once. */
export const NOT_YET: OddWorkspace = new OddWorkspace(undefined, undefined, false);

/** The workspaces of one logical cluster that one shard knows. */
export interface Workspaces {
  readonly shard: ShardNode;
  readonly byName: Map<string, Entry>;
  next: Workspaces | undefined;
}

/** Where the workspace leads, if to a logical cluster. */
export const targetOf = (entry: Entry | undefined): ClusterNode | undefined =>
  entry instanceof OddWorkspace ? entry.target : entry;

/** What a shard knows of workspaces in a logical cluster. */
export function workspacesOn(node: ClusterNode, shard: ShardNode | undefined): Workspaces | undefined {
  let list = node.below;
  while (list !== undefined && list.shard !== shard) list = list.next;
  return list;
}

/** The workspace of this name, as the shard says that has the logical cluster. */
export const workspaceIn = (node: ClusterNode, name: string): Entry | undefined =>
  node.shard === undefined ? undefined : workspacesOn(node, node.shard)?.byName.get(name);

/** A shard speaks of workspaces in a logical cluster for the first time. */
export function addWorkspaces(node: ClusterNode, shard: ShardNode): Workspaces {
  node.below = { shard, byName: new Map(), next: node.below };
  return node.below;
}

/** A shard knows of no workspace any more in a logical cluster. */
export function removeWorkspaces(node: ClusterNode, list: Workspaces): void {
  if (node.below === list) node.below = list.next;
  for (let at = node.below; at !== undefined; at = at.next) if (at.next === list) at.next = list.next;
}

/** So many of the last that were deleted are remembered, and at most twice as many. */
const REMEMBERED = 5000;

/** How a Workspace is called among all that can be deleted: no logical cluster is called so. */
export const workspaceKey = (cluster: string, name: string): string => `${cluster}\0${name}`;

/**
 * The last objects that a shard has deleted, by name. They are in two generations, of which the older one is forgotten as a whole: so
 * the first of a Set need not be looked for, which takes the longer the more have gone before it.
 */
export class Deleted {
  #recent = new Set<string>();
  #older = new Set<string>();

  has(key: string): boolean {
    return this.#recent.has(key) || this.#older.has(key);
  }

  add(key: string): void {
    if (this.#recent.size === REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(ownCopy(key));
  }

  /** It is there again. */
  remove(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}

/**
 * Which shards say that they have a logical cluster, and what they say of it. The one that counts, the first by name, is
 * spread out in the node itself: so every index that knows the same says the same, in whatever order it came to know.
 */
export class Claims {
  readonly #others = new Map<ClusterNode, Claim[]>();

  /** The shard must not have a claim yet. */
  add(node: ClusterNode, claim: Claim): void {
    claim.shard.clusters++;
    const counts = claimOf(node);
    if (counts === undefined) {
      spread(node, claim);
      return;
    }
    const [first, other] = isBefore(claim, counts) ? [claim, counts] : [counts, claim];
    spread(node, first);
    const others = this.#others.get(node);
    if (others === undefined) this.#others.set(node, [other]);
    else others.push(other);
  }

  /** The claim that the shard has no more; undefined if it had none. */
  remove(node: ClusterNode, shard: ShardNode): Claim | undefined {
    if (node.shard === undefined) return undefined;
    const others = this.#others.get(node) ?? [];
    const counts = node.shard === shard;
    const claim = counts ? claimOf(node) : others.find((other) => other.shard === shard);
    if (claim === undefined) return undefined;
    claim.shard.clusters--;
    const next = counts
      ? others.reduce<Claim | undefined>((a, b) => (a !== undefined && isBefore(a, b) ? a : b), undefined)
      : undefined;
    if (counts) spread(node, next);
    const rest = others.filter((other) => other !== claim && other !== next);
    if (rest.length > 0) this.#others.set(node, rest);
    else if (others.length > 0) this.#others.delete(node);
    return claim;
  }
}

const isBefore = (a: Claim, b: Claim): boolean => a.shard.name < b.shard.name;

function claimOf({ shard, type, prefix, base }: ClusterNode): Claim | undefined {
  return shard === undefined ? undefined : { shard, type, prefix, base };
}

function spread(node: ClusterNode, claim: Claim | undefined): void {
  node.shard = claim?.shard;
  node.type = claim?.type;
  node.prefix = claim?.prefix;
  node.base = claim?.base;
}

/** A workspace that leads to a logical cluster, seen from there. */
export interface Link {
  readonly parent: ClusterNode;
  readonly name: string;
}

const keyOf = ({ parent, name }: Link): string => workspaceKey(parent.name, name);

/** Which workspaces lead to a logical cluster, whether they count or not. The first is kept in the node itself. */
export class Links {
  readonly #others = new Map<ClusterNode, Map<string, Link>>();

  add(node: ClusterNode, link: Link): void {
    if (node.parent === undefined) {
      node.parent = link.parent;
      node.linkName = link.name;
      return;
    }
    if (isFirst(node, link)) return;
    const others = this.#others.get(node);
    if (others === undefined) this.#others.set(node, new Map([[keyOf(link), link]]));
    else others.set(keyOf(link), link);
  }

  remove(node: ClusterNode, link: Link): void {
    const others = this.#others.get(node);
    if (isFirst(node, link)) {
      const [next] = others?.values() ?? [];
      node.parent = next?.parent;
      node.linkName = next?.name;
      if (next !== undefined) others?.delete(keyOf(next));
    } else others?.delete(keyOf(link));
    if (others?.size === 0) this.#others.delete(node);
  }

  of(node: ClusterNode): readonly Link[] {
    const { parent, linkName } = node;
    if (parent === undefined || linkName === undefined) return [];
    const others = this.#others.get(node);
    return [{ parent, name: linkName }, ...(others?.values() ?? [])];
  }
}

const isFirst = (node: ClusterNode, link: Link): boolean => node.parent === link.parent && node.linkName === link.name;
