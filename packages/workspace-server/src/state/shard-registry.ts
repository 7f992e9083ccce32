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
  /** Receives the workspace types and the issuers they name. @default issuers of workspace types are ignored */
  readonly authentication?: WorkspaceAuthentication;
}

/** Shards that run together, and the index of their workspaces. */
export class ShardRegistry {
  readonly index: PathIndex = new PathIndex();
  /** Whether this process runs shards on behalf of Shard objects. */
  readonly runsShards: boolean;
  /** Authenticators by workspace type, if enabled. */
  readonly authentication: WorkspaceAuthentication | undefined;
  readonly #shards = new Map<string, ShardPeer>();
  readonly #followers = new Set<Follower>();
  readonly #identities = Promise.withResolvers<void>();
  #known: ReadonlyMap<string, string> = new Map();

  /** Identity hashes of the exports in `root` with kcp's own kinds, by name; empty before {@link identified}. */
  get identities(): ReadonlyMap<string, string> {
    return this.#known;
  }

  /** Resolves when the shard with `root` knows these identities: bound resources cannot be served earlier. */
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
   * Shards that have run and do not run here now. Objects not found on the others may be on these, and must not be treated as
   * gone. Controllers that skip an object check again when a shard joins or a Shard is deleted.
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

  /** Returns the shard of a logical cluster. */
  shardWith(cluster: string): ShardPeer | undefined {
    const name = this.index.shardOf(cluster);
    return name === undefined ? undefined : this.#shards.get(name);
  }

  /** Calls `follow` for each present and future shard; disposes of its result when the shard leaves, or with the returned object. */
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

  /** Adds a shard, and keeps the index current with its content. @returns removes it */
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

  /** Returns the LogicalCluster of a logical cluster on any shard. */
  logicalCluster(cluster: string): LogicalCluster | undefined {
    return this.shardWith(cluster)?.state.logicalCluster(cluster);
  }

  /** Returns the path of a logical cluster, from its annotation or the Workspaces that lead to it; `undefined` while unknown. */
  pathOf(cluster: string): string | undefined {
    return this.logicalCluster(cluster)?.metadata.annotations?.[PATH_ANNOTATION] ?? this.index.pathOf(cluster);
  }

  /** Whether all objects on the running shards are known. */
  get isWhole(): boolean {
    for (const { objects } of this.#shards.values()) if (!objects.isWhole) return false;
    return true;
  }

  /** Resolves when all objects on the running shards are known. @returns `undefined` when they are */
  whole(): Promise<void> | undefined {
    return this.isWhole ? undefined : this.#becomesWhole();
  }

  /**
   * Loads a logical cluster, except its Workspaces, on whichever shard. Decisions need this first: about its existence, its
   * roles and bindings, or missing objects.
   *
   * @returns `undefined` when it is loaded; else a promise, which rejects with ApiError 503 when a store cannot be read
   */
  load(cluster: string): Promise<void> | undefined {
    if (cluster === "") return undefined;
    // Avoids allocation in the common case: called several times per request.
    if (this.isWhole) return undefined;
    const pending = this.#loading(cluster);
    return pending.length === 0 ? undefined : this.#loaded(cluster, pending);
  }

  /** Loads all logical clusters along a name or path, as {@link locate} and the index need. */
  reach(said: string): Promise<void> | undefined {
    return this.isWhole ? undefined : this.#reach(said);
  }

  /** Returns the WorkspaceTypes of a key `<path or logical cluster>:<name>`: several only after a mistake. */
  workspaceTypes(key: string): WorkspaceType[] {
    return this.shards.flatMap(({ state }) => state.workspaceTypes.store.by("type", key));
  }

  /**
   * Returns the logical cluster of `/clusters/<said>`: a name stands for itself, whether or not it exists. For a mounted
   * workspace it returns the parent's logical cluster, with the mount ({@link asLocated}).
   *
   * @param shard required shard; any shard if omitted
   * @throws ApiError 400 on neither a name nor a path, 404 on an unknown path, 429 on a path to another shard, 503 when it is
   * unavailable
   */
  locate(said: string, shard?: string): string | Located {
    return isClusterName(said) ? said : this.#find(said, shard);
  }

  /** Whether another shard is known to have a logical cluster. Every shard has those of the system. */
  isElsewhere(cluster: string, shard: string): boolean {
    return !cluster.startsWith("system:") && (this.index.shardOf(cluster) ?? shard) !== shard;
  }

  /** Whether a logical cluster may be on a shard that does not run: then its existence is unknown. */
  isUnknown(cluster: string): boolean {
    if (cluster === WILDCARD || cluster.startsWith("system:")) return false;
    return this.index.shardOf(cluster) === undefined && this.isPart;
  }

  /** Same as {@link isUnknown} for a path or name. */
  isAway(place: string): boolean {
    if (isClusterName(place)) return this.isUnknown(place);
    return this.isPart && this.index.lookup(place).kind !== "cluster";
  }

  /** Whether some shards may not run yet. Requests arrive before the first shard joins, and only `root` knows the others. */
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

  /** Includes shards that join meanwhile: their content would be neither unknown nor loaded. */
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
      // A mount, or a missing Workspace.
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

/** Whether the text is the name of a logical cluster, not a path. */
export function isClusterName(said: string): boolean {
  return said.startsWith("system:") || !said.includes(":");
}

/** Holds a resource for each shard while the shard is present. */
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
 * Annotation of a Shard object in `root`. With `"true"` the server runs the shard in its own process, with a store and an
 * address of its own, and writes that address into the object. Set at creation; immutable.
 */
export const IN_PROCESS_ANNOTATION = "virtual-workspaces.io/in-process";

/** Finalizer of such a Shard object, until no logical cluster is left on the shard and it has stopped. */
export const IN_PROCESS_FINALIZER = "virtual-workspaces.io/in-process";

/** Whether the server runs this shard in its own process. */
export function isInProcess({ metadata }: Pick<Shard, "metadata">): boolean {
  return metadata.annotations?.[IN_PROCESS_ANNOTATION] === "true";
}
