// Why: the index holds a million of these. One object stands for a logical cluster and its workspace. Rare cases (several shards
// claim a logical cluster, several workspaces lead to it) are in separate Claims and Links.
import { ownCopy, type SharedText } from "./texts.ts";

/** Shard that the index knows or that a report mentions. */
export interface ShardNode {
  readonly name: string;
  /** Undefined before the shard itself is reported. */
  urls: { readonly baseURL: string; readonly virtualWorkspaceURL: string | undefined } | undefined;
  /** Number of logical clusters that the shard reports. */
  clusters: number;
  /** Names of deleted logical clusters and keys of deleted workspaces. */
  readonly deleted: Deleted;
}

/** Report of one shard on a logical cluster. */
export interface Claim {
  readonly shard: ShardNode;
  readonly type: SharedText | undefined;
  /** Path without its last name; undefined for a path of one name, and without a path. */
  readonly prefix: SharedText | undefined;
  /** Last name of the path; undefined without a path. */
  readonly base: string | undefined;
}

/** Value of `hash` for nodes that are not in the table. */
export const UNFILED = -1;

/** Logical cluster that a shard has, that a workspace leads to, or that contains workspaces. */
export class ClusterNode {
  readonly name: string;
  /** Fields of the claim that counts, starting with its shard. */
  shard: ShardNode | undefined = undefined;
  type: SharedText | undefined = undefined;
  prefix: SharedText | undefined = undefined;
  base: string | undefined = undefined;
  /** First workspace that leads to this logical cluster: its parent and its name. */
  parent: ClusterNode | undefined = undefined;
  linkName: string | undefined = undefined;
  /** Whether that workspace counts and has no special state. */
  isInOrder = false;
  /** Hash of the path by that workspace, under which the table has this node. */
  hash: number = UNFILED;
  /** Workspaces in this logical cluster, a list by shard. Only those of its own shard count. */
  below: Workspaces | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** Workspace. A normal one is its logical cluster; others need more fields. */
export type Entry = ClusterNode | OddWorkspace;

/** Workspace that is a mount, or unavailable, or leads nowhere yet. */
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

/** One shared object, since a million workspaces may be created at once. */
export const NOT_YET: OddWorkspace = new OddWorkspace(undefined, undefined, false);

/** Workspaces of one logical cluster on one shard. */
export interface Workspaces {
  readonly shard: ShardNode;
  readonly byName: Map<string, Entry>;
  next: Workspaces | undefined;
}

/** Returns the logical cluster of a workspace, if it has one. */
export const targetOf = (entry: Entry | undefined): ClusterNode | undefined =>
  entry instanceof OddWorkspace ? entry.target : entry;

/** Returns the workspaces in a logical cluster that a shard reports. */
export function workspacesOn(node: ClusterNode, shard: ShardNode | undefined): Workspaces | undefined {
  let list = node.below;
  while (list !== undefined && list.shard !== shard) list = list.next;
  return list;
}

/** Returns the workspace with this name from the shard that has the logical cluster. */
export const workspaceIn = (node: ClusterNode, name: string): Entry | undefined =>
  node.shard === undefined ? undefined : workspacesOn(node, node.shard)?.byName.get(name);

/** Adds the list for a shard that reports the first workspace in a logical cluster. */
export function addWorkspaces(node: ClusterNode, shard: ShardNode): Workspaces {
  node.below = { shard, byName: new Map(), next: node.below };
  return node.below;
}

/** Removes the list of a shard that reports no workspace in a logical cluster any more. */
export function removeWorkspaces(node: ClusterNode, list: Workspaces): void {
  if (node.below === list) node.below = list.next;
  for (let at = node.below; at !== undefined; at = at.next) if (at.next === list) at.next = list.next;
}

/** Minimum number of remembered deletions; the maximum is twice as high. */
const REMEMBERED = 5000;

/** Returns the key of a deleted Workspace, which no logical cluster name equals. */
export const workspaceKey = (cluster: string, name: string): string => `${cluster}\0${name}`;

/**
 * Last deletions of a shard, by name. It keeps two generations and drops the older one as a whole, since finding the first entry of
 * a Set takes longer the more were deleted before it.
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

  /** Removes a key whose object exists again. */
  remove(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}

/**
 * Claims of shards on logical clusters. The one that counts, the first by shard name, has its fields in the node. The result
 * therefore does not depend on the order of the reports.
 */
export class Claims {
  readonly #others = new Map<ClusterNode, Claim[]>();

  /** Adds the claim of a shard that has none yet. */
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

  /** Removes and returns the claim of a shard; undefined if it had none. */
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

/** Workspace that leads to a logical cluster. */
export interface Link {
  readonly parent: ClusterNode;
  readonly name: string;
}

const keyOf = ({ parent, name }: Link): string => workspaceKey(parent.name, name);

/** Workspaces that lead to logical clusters, including those that do not count. The node itself has the first. */
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
