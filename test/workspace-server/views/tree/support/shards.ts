// Shards without controllers: the test writes the workspaces, and permissions are real.

import { createServer, staticTokens, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { ClusterRole, ClusterRoleBinding } from "@virtual-workspaces/workspace-server";
import { shardAuthorizer } from "../../../../../packages/workspace-server/src/authz/authorizer.ts";
import { bootstrapRoles } from "../../../../../packages/workspace-server/src/authz/bootstrap-roles.ts";
import { authorizerState } from "../../../../../packages/workspace-server/src/state/authorization-state.ts";
import type { ShardContext } from "../../../../../packages/workspace-server/src/state/context.ts";
import { inProcessPeer } from "../../../../../packages/workspace-server/src/state/in-process-peer.ts";
import { ensure, modify, remove } from "../../../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../../../packages/workspace-server/src/state/objects.ts";
import type { ShardRegistry } from "../../../../../packages/workspace-server/src/state/shard-registry.ts";
import { logicalClusterKey, ShardState } from "../../../../../packages/workspace-server/src/state/shard-state.ts";
import { testLog } from "../../../../_setup/log.ts";
import { type Calls, callsTo } from "../../../../_support/plain.ts";

const ACCESS = "system:kcp:workspace:access";
const GROUP = "rbac.authorization.k8s.io";
const keyOf = (cluster: string, name: string) => ({ cluster, namespace: "", name });

/** A shard that records its access decisions. */
export class BareShard implements AsyncDisposable {
  readonly context: ShardContext;
  readonly #stack = new AsyncDisposableStack();
  /** Logical clusters of these decisions. */
  readonly asked: string[] = [];

  private constructor(name: string, registry: ShardRegistry, store: Store) {
    const objects = this.#stack.use(new ShardObjects(store, () => undefined));
    const state = new ShardState(objects);
    const url = `https://${name}.example`;
    const urls = { baseURL: url, externalURL: url, virtualWorkspaceURL: url };
    const known = { name, urls, objects, state, registry, log: testLog().log };
    const authorizer = shardAuthorizer({ state: authorizerState(known, () => undefined) });
    const { enters } = authorizer;
    const counting: typeof enters = (user, cluster) => {
      this.asked.push(cluster);
      return enters(user, cluster);
    };
    this.context = { ...known, authorizer: Object.assign(authorizer, { enters: counting }) } as never;
  }

  static async start(name: string, registry: ShardRegistry, given?: Store): Promise<BareShard> {
    const store = given ?? memoryStore();
    const shard = new BareShard(name, registry, store);
    const { objects } = shard.context;
    for (const { kind, metadata, ...rest } of bootstrapRoles) {
      const collection = kind === "ClusterRole" ? objects.of(ClusterRole) : objects.of(ClusterRoleBinding);
      await ensure(collection as never, keyOf("system:admin", metadata.name), () => rest as never);
    }
    await objects.start();
    shard.#stack.use(registry.join(inProcessPeer(shard.context)));
    if (given === undefined) shard.#stack.use(store);
    return shard;
  }

  /** Creates a logical cluster. */
  async cluster(name: string, path: string, annotations = {}): Promise<void> {
    await ensure(this.context.objects.of(LogicalCluster), logicalClusterKey(name), () => ({
      metadata: { annotations: { [PATH_ANNOTATION]: path, ...annotations } },
      spec: {},
      status: { phase: "Ready" as const },
    }));
  }

  get logicalClusters() {
    return this.context.objects.of(LogicalCluster);
  }

  removeCluster(name: string): Promise<unknown> {
    return remove(this.logicalClusters, logicalClusterKey(name));
  }

  /** Creates a Workspace that leads to one. */
  async workspace(parent: string, name: string, spec: object): Promise<void> {
    await ensure(this.context.objects.of(Workspace), keyOf(parent, name), () => ({ spec: spec as never }));
  }

  async label(parent: string, name: string, labels: Record<string, string>): Promise<void> {
    await modify(this.context.objects.of(Workspace), keyOf(parent, name), (found) => ({
      ...found,
      metadata: { ...found.metadata, labels: { ...found.metadata.labels, ...labels } },
    }));
  }

  async removeWorkspace(parent: string, name: string): Promise<void> {
    await remove(this.context.objects.of(Workspace), keyOf(parent, name));
  }

  /** Grants a user access. */
  async admit(cluster: string, user: string, kind: "User" | "Group" = "User"): Promise<void> {
    await ensure(this.context.objects.of(ClusterRoleBinding), keyOf(cluster, `in-${user}`), () => ({
      roleRef: { apiGroup: GROUP, kind: "ClusterRole" as const, name: ACCESS },
      subjects: [{ apiGroup: GROUP, kind, name: user }],
    }));
  }

  async refuse(cluster: string, user: string): Promise<void> {
    await remove(this.context.objects.of(ClusterRoleBinding), keyOf(cluster, `in-${user}`));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Users by token. */
const USERS = {
  root: { name: "root", groups: ["system:masters"] },
  alice: { name: "alice", groups: ["team"] },
  bob: { name: "bob" },
};

export async function serve(view: VirtualWorkspace): Promise<Calls & AsyncDisposable & { readonly url: string }> {
  const server = createServer({ virtualWorkspaces: [view], authentication: [staticTokens(USERS)], log: testLog().log });
  const { url } = await server.listen({ port: 0 });
  return { url, ...callsTo(url), [Symbol.asyncDispose]: () => server.close() };
}
