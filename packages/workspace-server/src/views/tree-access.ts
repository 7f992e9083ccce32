import { CLUSTER_ANNOTATION, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type FollowedDependency, type Identity, User, type ViewDependency } from "@virtual-workspaces/framework";
import type { CacheLease } from "@virtual-workspaces/framework/storage";
import { SYSTEM_ADMIN_CLUSTER, type Workspace } from "@virtual-workspaces/kcp";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA } from "@virtual-workspaces/kcp/users";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { AccessibleClusters, TimeSlices } from "./accessible-clusters.ts";

/** Reader of the tree, identified by `readerKey`. */
export interface TreeReader {
  readonly reader: string;
}

/** Longest wait of a read for a shard's permissions, in milliseconds; the same as for its workspaces. */
const PATIENCE = 3_000;

/**
 * Decides who sees which Workspaces: users with access to the logical cluster a Workspace leads to, as its shard decides.
 * While there are readers it watches the inputs: ClusterRoles and ClusterRoleBindings, and the phases of logical clusters. A
 * change costs one decision per reader; one in a shard's `system:admin` one per reader and logical cluster.
 */
export class TreeAccess implements ViewDependency<TreeReader>, Disposable {
  readonly #registry: ShardRegistry;
  readonly #readers = new Map<string, AccessibleClusters>();
  /** Shown paths, by logical cluster. */
  readonly #paths = new Map<string, string | undefined>();
  readonly #again = new Set<(key: ObjectKey) => void>();
  readonly #slices = new TimeSlices();
  readonly #following: Disposable;

  constructor(registry: ShardRegistry) {
    this.#registry = registry;
    this.#following = registry.eachShard((shard) => this.#followShard(shard));
  }

  /** Whether a current reader sees a Workspace. */
  shows({ reader }: TreeReader, workspace: Workspace): boolean {
    return this.#readers.get(reader)?.has(gate(workspace)) ?? false;
  }

  /** Whether any user sees a Workspace, in the current state. @param parent logical cluster of the Workspace */
  mayGet(user: User, parent: string, name: string): boolean {
    const key = { cluster: parent, namespace: "", name };
    const found = this.#registry.shardWith(parent)?.state.workspaces.store.get(key);
    return found === undefined ? this.mayEnter(user, "") : this.mayEnter(user, gate(found, parent));
  }

  /** Whether a user has access to a logical cluster; "" stands for one that does not exist yet. */
  mayEnter(user: User, cluster: string): boolean {
    const shard = this.#registry.shardWith(cluster) ?? this.#registry.shards[0];
    return shard?.authorizer.enters(user, cluster) ?? false;
  }

  /** Returns the path of a logical cluster; `undefined` while it is unknown. */
  pathOf(cluster: string): string | undefined {
    const path = this.#registry.pathOf(cluster);
    this.#paths.set(cluster, path);
    return path;
  }

  follow({ reader }: TreeReader, again: (key: ObjectKey) => void): FollowedDependency {
    const entered = this.#readers.get(reader) ?? this.#read(reader);
    const listening = entered.listen(again);
    this.#again.add(again);
    return {
      confirm: (request) => this.#confirm(entered, request),
      [Symbol.dispose]: () => {
        listening[Symbol.dispose]();
        this.#again.delete(again);
        if (this.#again.size === 0) this.#paths.clear();
        if (!entered.isIdle) return;
        entered[Symbol.dispose]();
        this.#readers.delete(reader);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#slices[Symbol.dispose]();
  }

  #read(reader: string): AccessibleClusters {
    const user = readerOf(reader);
    const entered = new AccessibleClusters({
      enters: (cluster) => this.mayEnter(user, cluster),
      shownBy: (cluster) => this.#shownBy(cluster),
      slices: this.#slices,
    });
    this.#readers.set(reader, entered);
    return entered;
  }

  *#shownBy(cluster: string): Iterable<ObjectKey> {
    for (const { state } of this.#registry.shards) {
      yield* state.workspaces.store.keysBy("cluster", cluster);
      yield* state.workspaces.store.keysBy("mounted", cluster);
    }
  }

  #followShard(shard: ShardPeer): Disposable {
    const { name, state } = shard;
    const all = (): void => {
      for (const entered of this.#readers.values()) entered.lookAt(name, state.logicalClusters.store.clusters());
    };
    const look = (cluster: string): void => {
      for (const entered of this.#readers.values()) entered.look(cluster);
    };
    const roles = ({ cluster }: ObjectKey): void => (cluster === SYSTEM_ADMIN_CLUSTER ? all() : look(cluster));
    const stack = new DisposableStack();
    stack.use(state.rbac.clusterRoles.onChangedKey(roles));
    stack.use(state.rbac.clusterRoleBindings.onChangedKey(roles));
    stack.use(
      state.logicalClusters.onChangedKey(({ cluster }) => {
        look(cluster);
        this.#lookAtPath(cluster);
      }),
    );
    stack.use(
      state.workspaces.on({
        deleted: ({ spec }) => {
          for (const entered of this.#readers.values()) entered.forget(spec.cluster ?? "");
        },
      }),
    );
    stack.defer(() => {
      for (const entered of this.#readers.values()) entered.leave(name);
    });
    all();
    return stack;
  }

  #lookAtPath(cluster: string): void {
    if (!this.#paths.has(cluster) || this.#paths.get(cluster) === this.#registry.pathOf(cluster)) return;
    for (const { state } of this.#registry.shards)
      for (const { metadata } of state.workspaces.store.list(cluster))
        for (const again of this.#again) again({ cluster, namespace: "", name: metadata.name ?? "" });
  }

  /** Waits for current permissions. The merged Workspaces name a shard without an answer; its last known permissions count. */
  async #confirm(entered: AccessibleClusters, { signal }: Parameters<CacheLease["confirm"]>[0]): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
    const told = this.#registry.shards.flatMap(({ state: { rbac, logicalClusters } }) =>
      [rbac.clusterRoles, rbac.clusterRoleBindings, logicalClusters].map((one) => one.confirm({ signal: patience })),
    );
    await Promise.allSettled(told);
    signal.throwIfAborted();
    entered.settle();
  }
}

/** Returns the logical cluster that requires access: the target, or for a mount, whose target has its own rules, the parent. */
function gate(
  { metadata, spec }: Workspace,
  parent: string = metadata.annotations?.[CLUSTER_ANNOTATION] ?? "",
): string {
  if (spec.cluster !== undefined && spec.cluster !== "") return spec.cluster;
  return spec.mount === undefined ? "" : parent;
}

/** Extras of a user that authorization uses. The others differ between tokens. */
const DECIDING: readonly string[] = [CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA];

/** Returns the parts of a user that determine access to workspaces, as text: users with equal texts have the same access. */
export function readerKey({ name, groups, extra }: Identity): string {
  const extras = DECIDING.filter((key) => Object.hasOwn(extra, key)).map((key) => [key, extra[key]] as const);
  return JSON.stringify([name, [...new Set(groups)].sort(), extras]);
}

/** Returns the user of a text of {@link readerKey}. */
function readerOf(key: string): User {
  const [name, groups, extras] = JSON.parse(key) as [string, string[], [string, string[]][]];
  return new User({ name, groups, extra: Object.fromEntries(extras) });
}
