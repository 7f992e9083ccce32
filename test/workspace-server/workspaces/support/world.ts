// Shards with workspaces: real stores, collections and controllers, and optionally a real server each.
import type { Log } from "@virtual-workspaces/framework/server";
import {
  LogicalCluster,
  type LogicalClusterPhase,
  Shard,
  type Workspace,
  Workspace as Workspaces,
  WorkspaceType,
  type WorkspaceTypeSpec,
} from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import type { ShardContext } from "../../../../packages/workspace-server/src/state/context.ts";
import { inProcessPeer } from "../../../../packages/workspace-server/src/state/in-process-peer.ts";
import type { Informer } from "../../../../packages/workspace-server/src/state/informers/informer.ts";
import { ensure, modify, remove } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../../packages/workspace-server/src/state/objects.ts";
import type { ShardPeer } from "../../../../packages/workspace-server/src/state/shard-peer.ts";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { logicalClusterKey, ShardState } from "../../../../packages/workspace-server/src/state/shard-state.ts";
import { KindsOfClusters } from "../../../../packages/workspace-server/src/state/stored-kinds.ts";
import type { WorkspaceOptions } from "../../../../packages/workspace-server/src/workspaces/workspace/workspace-controller.ts";
import { workspaceControllers } from "../../../../packages/workspace-server/src/workspaces/workspace-controllers.ts";
import { testLog } from "../../../_setup/log.ts";
import { until } from "../../../_support/until.ts";
import { contentCollections, contentOf } from "./content.ts";
import { ClusterRoleBinding, Namespace } from "./kinds.ts";

export interface WorldOptions extends WorkspaceOptions {
  /** Stores by shard name. @default one, `root` */
  readonly stores?: Readonly<Record<string, Store>>;
  /** @default fails the test */
  readonly log?: Log;
  /** Whether controllers run. @default true */
  readonly working?: boolean;
}

const key = (cluster: string, name: string) => ({ cluster, namespace: "", name });

/** All shards of a test. Disposal removes everything except the given stores. */
export class World implements AsyncDisposable {
  readonly registry = new ShardRegistry();
  /** Contexts by shard name. */
  readonly #contexts = new Map<string, ShardContext>();
  readonly #stack = new AsyncDisposableStack();
  readonly #options: WorldOptions;
  readonly #bindings = new Map<string, Informer<{ subjects?: { name: string }[] }>>();
  /** Whether waits have ended. */
  over = false;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get root(): ShardContext {
    return this.#contexts.get("root") as ShardContext;
  }

  /** Starts a shard, new or on a store it has used before. */
  async join(name: string, given?: Store): Promise<AsyncDisposable> {
    const { log = testLog().log, working = true, ...options } = this.#options;
    const stack = new AsyncDisposableStack();
    const store = given ?? stack.use(memoryStore());
    const objects = stack.use(new ShardObjects(store, () => undefined));
    const state = new ShardState(objects);
    const informer = objects.informer(ClusterRoleBinding);
    this.#bindings.set(name, informer as never);
    const followed = contentCollections(objects).map(({ resource }) => objects.informer(resource));
    const url = `https://${name}.example`;
    const urls = { baseURL: url, externalURL: url, virtualWorkspaceURL: url };
    const known = { name, urls, objects, state, registry: this.registry, log };
    // Parts that workspaces do not use.
    const shard: ShardContext = {
      ...known,
      kinds: new KindsOfClusters(() => []),
      feed: undefined,
      minter: undefined,
      rootCa: () => "",
    } as never;
    this.#contexts.set(name, shard);
    // Pending waits for it fail from now on.
    stack.defer(() => void this.#contexts.delete(name));
    await objects.start();
    stack.use(this.registry.join(inProcessPeer(shard)));
    const changes = {
      onGone: (listener: (cluster: string) => void) => {
        const gone = new DisposableStack();
        for (const each of followed) gone.use(each.on({ deleted: (_, { key: { cluster } }) => listener(cluster) }));
        return gone;
      },
    };
    if (working) {
      const parts = workspaceControllers(shard, {
        ...options,
        content: (cluster) => contentOf(objects, cluster),
        changes,
        namespaces: Namespace,
        roleBindings: { definition: ClusterRoleBinding, informer },
      });
      stack.use(parts);
      await parts.started;
    }
    this.#stack.use(stack);
    return stack;
  }

  /** Creates the initial objects. */
  async bootstrap(): Promise<void> {
    for (const shard of this.registry.shards) await this.addShard(shard.name);
    await this.type("root", "root", { limitAllowedParents: { none: true } });
    await this.type("root", "universal", { initializer: true });
    const extend = { with: [{ name: "universal", path: "root" }] };
    const parents = (...names: string[]) => ({ types: names.map((name) => ({ name, path: "root" })) });
    await this.type("root", "organization", { extend, limitAllowedParents: parents("root") });
    await this.type("root", "team", { extend, limitAllowedParents: parents("organization", "team") });
    await this.type("root", "home", { extend, limitAllowedParents: { none: true } });
    await ensure(this.root.objects.of(LogicalCluster), logicalClusterKey("root"), () => ({
      metadata: { annotations: { [WORKSPACE_TYPE_ANNOTATION]: "root:root", [PATH_ANNOTATION]: "root" } },
      spec: { directlyDeletable: false },
    }));
    await this.until(() => this.root.state.logicalCluster("root") !== undefined);
  }

  async addShard(name: string, labels: Record<string, string> = {}, annotations: Record<string, string> = {}) {
    const url = `https://${name}.example`;
    await ensure(this.root.objects.of(Shard), key("root", name), () => ({
      metadata: { labels: { name, ...labels }, annotations },
      spec: { baseURL: url, externalURL: url, virtualWorkspaceURL: url },
    }));
  }

  async type(cluster: string, name: string, spec: WorkspaceTypeSpec): Promise<void> {
    const path = this.root.state.logicalCluster(cluster)?.metadata.annotations?.[PATH_ANNOTATION] ?? cluster;
    const child = { defaultChildWorkspaceType: { name: "universal", path: "root" } };
    await ensure(this.root.objects.of(WorkspaceType), key(cluster, name), () => ({
      metadata: { annotations: { [PATH_ANNOTATION]: path } },
      spec: { ...child, ...spec },
    }));
  }

  /** Creates a type without a spec; nothing is defaulted. */
  async bare(name: string): Promise<void> {
    await ensure(this.root.objects.of(WorkspaceType), key("root", name), () => ({}));
  }

  /** Creates a workspace without admission. */
  async make(name: string, content: Partial<Workspace> = {}, parent = "root"): Promise<void> {
    const { metadata, spec = {} } = content;
    const shard = this.registry.shardWith(parent) ?? this.root;
    await ensure(shard.objects.of(Workspaces), key(parent, name), () => ({
      ...(metadata && { metadata }),
      spec: { type: { name: "universal", path: "root" }, ...spec },
      status: { phase: "Scheduling" as const },
    }));
  }

  async delete(name: string, parent = "root"): Promise<void> {
    const shard = this.registry.shardWith(parent) ?? this.root;
    await remove(shard.objects.of(Workspaces), key(parent, name));
  }

  workspace(name: string, parent = "root"): Workspace | undefined {
    const shard = this.registry.shardWith(parent) ?? this.root;
    return shard.state.workspaces.store.get(key(parent, name));
  }

  /** Returns the logical cluster of a workspace once it is in a phase. */
  async phase(name: string, phase: LogicalClusterPhase, parent = "root"): Promise<string> {
    await this.until(() => this.workspace(name, parent)?.status?.phase === phase);
    return this.workspace(name, parent)?.spec.cluster ?? "";
  }

  async gone(name: string, parent = "root"): Promise<void> {
    await this.until(() => this.workspace(name, parent) === undefined);
  }

  /** Returns the administrator of a logical cluster. */
  bound(cluster: string): string | undefined {
    const bindings = this.#bindings.get(this.registry.shardWith(cluster)?.name ?? "");
    return bindings?.store.get(key(cluster, "workspace-admin"))?.subjects?.[0]?.name;
  }

  /** Changes the administrator or deletes the binding, and waits until it is restored. */
  async rebind(cluster: string, user: string | undefined): Promise<void> {
    const { objects } = this.registry.shardWith(cluster) ?? this.root;
    const collection = objects.of(ClusterRoleBinding);
    const at = key(cluster, "workspace-admin");
    const before = await collection.get(at as never, at);
    if (user === undefined) await remove(collection, at);
    else await modify(collection, at, (each) => ({ ...each, subjects: [{ kind: "User", name: user }] }));
    const least = Number(before?.resourceVersion) + 1;
    const bindings = this.#bindings.get("root");
    await this.until(() => Number(bindings?.store.get(at)?.metadata.resourceVersion) > least);
  }

  /** Changes a LogicalCluster on any shard. */
  async change(cluster: string, change: (cluster: LogicalCluster) => LogicalCluster): Promise<void> {
    const shard = this.registry.shardWith(cluster) as ShardPeer;
    await modify(shard.objects.of(LogicalCluster), logicalClusterKey(cluster), change);
  }

  /** Waits for a condition without a time limit, while others make progress. */
  async until(is: () => boolean): Promise<void> {
    await until(() => is());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Starts the shards with the initial objects. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  try {
    for (const [name, store] of Object.entries(options.stores ?? { root: undefined })) await world.join(name, store);
    await world.bootstrap();
    return world;
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
}
