import { ByPath, settle, settleBelow } from "./by-path.ts";
import {
  addWorkspaces,
  Claims,
  ClusterNode,
  Deleted,
  type Entry,
  type Link,
  Links,
  NOT_YET,
  OddWorkspace,
  removeWorkspaces,
  type ShardNode,
  targetOf,
  workspaceKey,
  workspacesOn,
} from "./nodes.ts";
import { ownCopy, SharedTexts } from "./texts.ts";
import type { IndexedLogicalCluster, IndexedWorkspace, WorkspaceKey } from "./types.ts";

const SCHEDULING = "Scheduling";
const UNAVAILABLE = "Unavailable";

/** Returns whether a mount has a URL that requests can be sent to. */
function isReachable(url: string | undefined): url is string {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === "http:" || protocol === "https:";
}

function entryOf(to: ClusterNode | undefined, mountURL: string | undefined, phase: string | undefined): Entry {
  const unavailable = phase === UNAVAILABLE;
  if (to !== undefined) return unavailable ? new OddWorkspace(to, undefined, true) : to;
  if (phase === SCHEDULING || !isReachable(mountURL)) return NOT_YET;
  return new OddWorkspace(undefined, ownCopy(mountURL), unavailable);
}

/** Merged reports of all shards. The report of a shard on an object stays until this shard changes it. */
export class Graph {
  readonly clusters: Map<string, ClusterNode> = new Map();
  readonly shards: Map<string, ShardNode> = new Map();
  readonly byPath: ByPath = new ByPath();
  readonly #texts = new SharedTexts();
  readonly #claims = new Claims();
  readonly #links = new Links();

  shard(name: string): ShardNode {
    const known = this.shards.get(name);
    if (known !== undefined) return known;
    const added: ShardNode = { name: ownCopy(name), urls: undefined, clusters: 0, deleted: new Deleted() };
    this.shards.set(added.name, added);
    return added;
  }

  setLogicalCluster(shard: ShardNode, { name, path, type }: IndexedLogicalCluster): void {
    const node = this.#node(name);
    const colon = path?.lastIndexOf(":") ?? -1;
    const base = path?.slice(colon + 1);
    const claim = {
      shard,
      type: type === undefined ? undefined : this.#texts.take(type),
      prefix: path === undefined || colon < 0 ? undefined : this.#texts.take(path.slice(0, colon)),
      base: base === undefined ? undefined : base === node.linkName ? node.linkName : ownCopy(base),
    };
    const before = node.shard;
    this.#removeClaim(node, shard);
    this.#claims.add(node, claim);
    if (node.shard !== before) settleBelow(node);
    shard.deleted.remove(name);
  }

  deleteLogicalCluster(shard: ShardNode, name: string): void {
    const node = this.clusters.get(name);
    if (node === undefined || !this.#removeClaim(node, shard)) return;
    settleBelow(node);
    shard.deleted.add(name);
    this.#release(node);
  }

  setWorkspace(shard: ShardNode, { cluster, name, target, mountURL, phase }: IndexedWorkspace): void {
    const parent = this.#node(cluster);
    const leads = target !== undefined && target !== "" && phase !== SCHEDULING;
    const to = leads ? this.#node(target) : undefined;
    const { byName } = workspacesOn(parent, shard) ?? addWorkspaces(parent, shard);
    const before = targetOf(byName.get(name));
    const key = to?.base === name ? to.base : ownCopy(name);
    byName.set(key, entryOf(to, mountURL, phase));
    shard.deleted.remove(workspaceKey(cluster, name));
    if (before !== to && before !== undefined) this.#unlink(before, { parent, name });
    if (before !== to && to !== undefined) this.#links.add(to, { parent, name: key });
    if (to !== undefined) settle(to, this.byPath);
  }

  deleteWorkspace(shard: ShardNode, { cluster, name }: WorkspaceKey): void {
    const parent = this.clusters.get(cluster);
    if (parent === undefined) return;
    const list = workspacesOn(parent, shard);
    const entry = list?.byName.get(name);
    if (list === undefined || entry === undefined) return;
    list.byName.delete(name);
    shard.deleted.add(workspaceKey(cluster, name));
    if (list.byName.size === 0) removeWorkspaces(parent, list);
    const to = targetOf(entry);
    if (to !== undefined) this.#unlink(to, { parent, name });
    this.#release(parent);
  }

  /** Removes all reports of a shard, including its deletions. Visits every logical cluster. */
  deleteShard(shard: ShardNode): void {
    for (const node of this.clusters.values()) {
      this.#removeClaim(node, shard);
      const list = workspacesOn(node, shard);
      if (list !== undefined) removeWorkspaces(node, list);
      for (const [name, entry] of list?.byName ?? []) {
        const to = targetOf(entry);
        if (to !== undefined) this.#unlink(to, { parent: node, name });
      }
      this.#release(node);
    }
    for (const node of this.clusters.values()) settleBelow(node);
    this.shards.delete(shard.name);
  }

  /** Returns all workspaces that lead to a logical cluster, including those that do not count. */
  links(node: ClusterNode): readonly Link[] {
    return this.#links.of(node);
  }

  #node(name: string): ClusterNode {
    const known = this.clusters.get(name);
    if (known !== undefined) return known;
    const added = new ClusterNode(ownCopy(name));
    this.clusters.set(added.name, added);
    return added;
  }

  /** Removes a logical cluster that no report mentions any more. */
  #release(node: ClusterNode): void {
    if (node.shard === undefined && node.below === undefined && node.parent === undefined)
      this.clusters.delete(node.name);
  }

  /** Returns whether the shard had a claim. */
  #removeClaim(node: ClusterNode, shard: ShardNode): boolean {
    const claim = this.#claims.remove(node, shard);
    this.#texts.leave(claim?.type);
    this.#texts.leave(claim?.prefix);
    return claim !== undefined;
  }

  #unlink(node: ClusterNode, link: Link): void {
    // Another shard may report the same workspace.
    for (let list = link.parent.below; list !== undefined; list = list.next)
      if (targetOf(list.byName.get(link.name)) === node) {
        settle(node, this.byPath);
        return;
      }
    this.#links.remove(node, link);
    settle(node, this.byPath);
    this.#release(node);
  }
}
