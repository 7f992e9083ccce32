// Why so: a million of these are kept. A logical cluster and the workspace that it stands behind are one object; what is
// rare (several shards that claim a logical cluster, several workspaces that lead to it) is kept beside, in claims.ts and links.ts.
import type { Deleted } from "./deleted.ts";
import type { SharedText } from "./texts.ts";

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
