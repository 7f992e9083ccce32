import { ApiError, isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Located } from "@virtual-workspaces/framework/resource";
import {
  HOME_PATH_PREFIX,
  homeClusterName,
  type LogicalCluster,
  ROOT_CLUSTER,
  ROOT_SHARD,
  type Shard,
  TENANCY_GROUP,
  type Workspace,
  type WorkspaceType,
} from "@virtual-workspaces/kcp";
import type { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { indexedLogicalCluster, indexedWorkspace, PathIndex } from "@virtual-workspaces/kcp/path-index";
import { asLocated, mountAt } from "./mounted-workspace.ts";
import type { ShardPeer } from "./shard-peer.ts";
import { elsewhere } from "./unavailable.ts";
import { watchWorkspaceLogins } from "./workspace-logins.ts";

/** Options of {@link ShardRegistry}. */
export interface ShardRegistryOptions {
  /** @default false */
  readonly runsShards?: boolean;
  /** Is told of types and what they name. @default nobody logs in by a type */
  readonly authentication?: WorkspaceAuthentication;
}

/** The shards that run together, and the index of their workspaces. */
export class ShardRegistry {
  readonly index: PathIndex = new PathIndex();
  /** Whether Shards may ask to be run by this process. */
  readonly runsShards: boolean;
  /** Who may log in to workspaces by their types, if anybody may. */
  readonly authentication: WorkspaceAuthentication | undefined;
  readonly #shards = new Map<string, ShardPeer>();
  readonly #followers = new Set<Follower>();
  readonly #identities = Promise.withResolvers<void>();
  #known: ReadonlyMap<string, string> = new Map();

  /** The hashes of the exports in `root` that kcp's own kinds come by, by name; none before {@link identified}. */
  get identities(): ReadonlyMap<string, string> {
    return this.#known;
  }

  /** Resolves when the shard that has `root` knows them: nothing that is bound can be served before. */
  get identified(): Promise<void> {
    return this.#identities.promise;
  }

  setIdentities(identities: ReadonlyMap<string, string>): void {
    this.#known = identities;
    this.#identities.resolve();
  }

  constructor({ runsShards = false, authentication }: ShardRegistryOptions = {}) {
    this.runsShards = runsShards;
    this.authentication = authentication;
  }

  get shards(): readonly ShardPeer[] {
    return [...this.#shards.values()];
  }

  /**
   * Shards that have run, and do not run here now: what is found on none of the others may be on one of these, and is not to
   * be taken for gone. Who has left something as it was looks again when a shard joins, and when a Shard is deleted.
   */
  get missing(): readonly Shard[] {
    if (!this.runsShards) return [];
    const all = this.#shards.get(ROOT_SHARD)?.state.shards.store.list(ROOT_CLUSTER) ?? [];
    return all.filter(
      (shard) => shard.spec !== undefined && isInProcess(shard) && !this.#shards.has(shard.metadata.name ?? ""),
    );
  }

  shard(name: string): ShardPeer | undefined {
    return this.#shards.get(name);
  }

  /** The shard that has a logical cluster. */
  shardWith(cluster: string): ShardPeer | undefined {
    const name = this.index.shardOf(cluster);
    return name === undefined ? undefined : this.#shards.get(name);
  }

  /** Calls for each shard, those that are here and those that join; what it gives is disposed of when the shard leaves, or this is. */
  eachShard(follow: (shard: ShardPeer) => Disposable): Disposable {
    const follower = new Follower(follow);
    this.#followers.add(follower);
    for (const shard of this.#shards.values()) follower.join(shard);
    return {
      [Symbol.dispose]: () => {
        this.#followers.delete(follower);
        follower[Symbol.dispose]();
      },
    };
  }

  /** Adds a shard, and what is on it to the index, now and as it changes. @returns ends that */
  join(shard: ShardPeer): Disposable {
    const { name, state, urls } = shard;
    this.#shards.set(name, shard);
    this.index.setShard(name, urls);
    const stack = new DisposableStack();
    stack.defer(() => {
      for (const follower of this.#followers) follower.leave(name);
      this.index.deleteShard(name);
      this.#shards.delete(name);
    });
    const setWorkspace = (workspace: Workspace): void => {
      const indexed = indexedWorkspace(workspace);
      if (indexed !== undefined) this.index.setWorkspace(name, indexed);
    };
    stack.use(
      state.workspaces.mirror({
        added: setWorkspace,
        updated: setWorkspace,
        deleted: (_, { key }) => this.index.deleteWorkspace(name, key),
      }),
    );
    const setLogicalCluster = (cluster: LogicalCluster): void => {
      const indexed = indexedLogicalCluster(cluster);
      if (indexed !== undefined) this.index.setLogicalCluster(name, indexed);
    };
    stack.use(
      state.logicalClusters.mirror({
        added: setLogicalCluster,
        updated: setLogicalCluster,
        deleted: (_, { key }) => this.index.deleteLogicalCluster(name, key.cluster),
      }),
    );
    if (this.authentication !== undefined) stack.use(watchWorkspaceLogins(shard, this.authentication));
    for (const follower of this.#followers) follower.join(shard);
    return stack;
  }

  /** The LogicalCluster of a logical cluster, wherever it is. */
  logicalCluster(cluster: string): LogicalCluster | undefined {
    return this.shardWith(cluster)?.state.logicalCluster(cluster);
  }

  /** The path of a logical cluster: as it says itself, or by the Workspaces that lead to it; `undefined` as long as neither is known. */
  pathOf(cluster: string): string | undefined {
    return this.logicalCluster(cluster)?.metadata.annotations?.[PATH_ANNOTATION] ?? this.index.pathOf(cluster);
  }

  /** Whether all is known that there is on the shards that are here. */
  get isWhole(): boolean {
    for (const { objects } of this.#shards.values()) if (!objects.isWhole) return false;
    return true;
  }

  /** Resolves when all is known that there is on the shards that are here. @returns `undefined` when it is */
  whole(): Promise<void> | undefined {
    return this.isWhole ? undefined : this.#becomesWhole();
  }

  /**
   * Sees to it that all is known of a logical cluster but its Workspaces, whichever shard has it. Until then nothing may be decided about it: not
   * that it is not there, nor what its roles and bindings say, nor that anything in it is missing.
   *
   * @returns `undefined` when it is known; else a promise, which rejects with ApiError 503 when a store cannot be read
   */
  load(cluster: string): Promise<void> | undefined {
    if (cluster === "") return undefined;
    // The common case makes nothing: it is asked several times for each request.
    if (this.isWhole) return undefined;
    const pending = this.#loading(cluster);
    return pending.length === 0 ? undefined : this.#loaded(cluster, pending);
  }

  /** The same of all logical clusters that a name or a path leads through: then {@link locate} and the index can be asked. */
  reach(said: string): Promise<void> | undefined {
    return this.isWhole ? undefined : this.#reach(said);
  }

  /** The WorkspaceTypes of a key `<path or logical cluster>:<name>`: one, or more where there is a mistake. */
  workspaceTypes(key: string): WorkspaceType[] {
    return this.shards.flatMap(({ state }) => state.workspaceTypes.store.by("type", key));
  }

  /**
   * The logical cluster that `/clusters/<said>` means: a name means itself, whether or not there is one. Of a workspace that is mounted
   * the one around it, with what says which ({@link placeOf}).
   *
   * @param shard where it has to be; none: anywhere
   * @throws ApiError 400 when it is neither name nor path, 404 when the path leads nowhere, 429 when it leads to another shard,
   *   503 when it is unavailable
   */
  locate(said: string, shard?: string): string | Located {
    return isClusterName(said) ? said : this.#find(said, shard);
  }

  /** Whether it is known that another shard has a logical cluster. Those of the system are on each. */
  isElsewhere(cluster: string, shard: string): boolean {
    return !cluster.startsWith("system:") && (this.index.shardOf(cluster) ?? shard) !== shard;
  }

  /** Whether a logical cluster may be on a shard that does not run: then it is neither there nor gone. */
  isUnknown(cluster: string): boolean {
    if (cluster === WILDCARD || cluster.startsWith("system:")) return false;
    return this.index.shardOf(cluster) === undefined && this.isPart;
  }

  /** The same of what a path or name leads to. */
  isAway(place: string): boolean {
    if (isClusterName(place)) return this.isUnknown(place);
    return this.isPart && this.index.lookup(place).kind !== "cluster";
  }

  /** Whether there may be shards that do not run yet. Requests come before the first has joined, and `root` knows which there are. */
  get isPart(): boolean {
    const begins = this.runsShards ? !this.#shards.has(ROOT_SHARD) : this.#shards.size === 0;
    return begins || this.missing.length > 0;
  }

  async #becomesWhole(): Promise<void> {
    while (!this.isWhole) await Promise.all(this.shards.map(({ objects }) => objects.whole));
  }

  #loading(cluster: string): readonly Promise<void>[] {
    return this.shards.flatMap(({ objects }) => objects.load(cluster) ?? []);
  }

  /** A shard that joins meanwhile is asked as well: what is on it would be neither away nor there. */
  async #loaded(cluster: string, first: readonly Promise<void>[]): Promise<void> {
    for (let pending = first; pending.length > 0; pending = this.#loading(cluster)) await Promise.all(pending);
  }

  async #reach(said: string): Promise<void> {
    if (isClusterName(said)) return this.load(said);
    const [first = "", ...names] = said.split(":");
    let cluster = first === HOME_PATH_PREFIX ? homeClusterName(names.shift() ?? "") : first;
    await this.load(cluster);
    for (const name of names) {
      const key = { cluster, namespace: "", name };
      const workspaces = this.shardWith(cluster)?.state.workspaces;
      await workspaces?.loadOne(key);
      const workspace = workspaces?.store.get(key);
      // A mount, or nothing.
      if (!workspace?.spec.cluster) return;
      cluster = workspace.spec.cluster;
      await this.load(cluster);
    }
  }

  #find(path: string, shard: string | undefined): string | Located {
    if (!isWorkspacePath(path))
      throw ApiError.badRequest(`invalid cluster: ${JSON.stringify(path)} does not match the regex`);
    const found = this.index.lookup(path);
    if (found.kind === "cluster" && (shard === undefined || found.shard === shard)) return found.cluster;
    if (found.kind === "cluster") throw elsewhere();
    const mount = mountAt(this, path);
    if (mount !== undefined) {
      if (shard !== undefined && this.isElsewhere(mount.cluster, shard)) throw elsewhere();
      return asLocated(mount);
    }
    if (found.kind === "unavailable") throw ApiError.serviceUnavailable("Not available.");
    throw ApiError.notFound({ group: TENANCY_GROUP, resource: "workspaces" }, path);
  }
}

/** Whether it is the name of a logical cluster, and no path. */
export function isClusterName(said: string): boolean {
  return said.startsWith("system:") || !said.includes(":");
}

/** What somebody has to do with each shard, for as long as it is there. */
class Follower implements Disposable {
  readonly #follow: (shard: ShardPeer) => Disposable;
  readonly #held = new Map<string, Disposable>();

  constructor(follow: (shard: ShardPeer) => Disposable) {
    this.#follow = follow;
  }

  join(shard: ShardPeer): void {
    this.leave(shard.name);
    this.#held.set(shard.name, this.#follow(shard));
  }

  leave(name: string): void {
    this.#held.get(name)?.[Symbol.dispose]();
    this.#held.delete(name);
  }

  [Symbol.dispose](): void {
    for (const held of this.#held.values()) held[Symbol.dispose]();
    this.#held.clear();
  }
}

/**
 * On a Shard object in `root`: `"true"` has the server run it in its own process, in a store and at an address of its own, and
 * say in the object where that is. Given when the object is created, and for good.
 */
export const IN_PROCESS_ANNOTATION = "virtual-workspaces.io/in-process";

/** Holds the Shard object of such a shard until no logical cluster is left on it, and it has stopped. */
export const IN_PROCESS_FINALIZER = "virtual-workspaces.io/in-process";

/** Whether the server is to run a shard. */
export function isInProcess({ metadata }: Pick<Shard, "metadata">): boolean {
  return metadata.annotations?.[IN_PROCESS_ANNOTATION] === "true";
}
