import { CLUSTER_ANNOTATION, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type FollowedDependency, type Identity, User, type ViewDependency } from "@virtual-workspaces/framework";
import type { CacheLease } from "@virtual-workspaces/framework/storage";
import { SYSTEM_ADMIN_CLUSTER, type Workspace } from "@virtual-workspaces/kcp";
import { CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA } from "@virtual-workspaces/kcp/users";
import type { ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { AccessibleClusters, TimeSlices } from "./accessible-clusters.ts";

/** Who reads the tree, as `readerKey` has it. */
export interface TreeReader {
  readonly reader: string;
}

/** How long a read waits for what a shard knows of permissions, ms: as long as for its workspaces. */
const PATIENCE = 3_000;

/**
 * Who may see which Workspaces: those who may enter what they lead to, as the shard decides that has it. Follows, for as
 * long as somebody reads, what that depends on: ClusterRoles and ClusterRoleBindings of a logical cluster, and its life.
 * A change costs one decision for each user who reads; one of a shard's `system:admin` as many as it has logical clusters.
 */
export class TreeAccess implements ViewDependency<TreeReader>, Disposable {
  readonly #registry: ShardRegistry;
  readonly #readers = new Map<string, AccessibleClusters>();
  /** The paths that were shown, by logical cluster. */
  readonly #paths = new Map<string, string | undefined>();
  readonly #again = new Set<(key: ObjectKey) => void>();
  readonly #slices = new TimeSlices();
  readonly #following: Disposable;

  constructor(registry: ShardRegistry) {
    this.#registry = registry;
    this.#following = registry.eachShard((shard) => this.#followShard(shard));
  }

  /** Whether somebody who reads is shown a Workspace. */
  shows({ reader }: TreeReader, workspace: Workspace): boolean {
    return this.#readers.get(reader)?.has(gate(workspace)) ?? false;
  }

  /** The same of anybody, as everything is now. @param parent the logical cluster that the Workspace is in */
  mayGet(user: User, parent: string, name: string): boolean {
    const key = { cluster: parent, namespace: "", name };
    const found = this.#registry.shardWith(parent)?.state.workspaces.store.get(key);
    return found === undefined ? this.mayEnter(user, "") : this.mayEnter(user, gate(found, parent));
  }

  /** Whether somebody may enter a logical cluster; "" stands for those that are not there yet. */
  mayEnter(user: User, cluster: string): boolean {
    const shard = this.#registry.shardWith(cluster) ?? this.#registry.shards[0];
    return shard?.authorizer.enters(user, cluster) ?? false;
  }

  /** The path of a logical cluster, as what is in it says; `undefined` as long as it is not known. */
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

  /** A shard that does not answer is named by what shows its workspaces; what it has said is what counts. */
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

/** What one must be able to enter: where the Workspace leads; a mount, which has permissions of its own, the one around it. */
function gate(
  { metadata, spec }: Workspace,
  parent: string = metadata.annotations?.[CLUSTER_ANNOTATION] ?? "",
): string {
  if (spec.cluster !== undefined && spec.cluster !== "") return spec.cluster;
  return spec.mount === undefined ? "" : parent;
}

/** What of a user's extras authorization looks at. What else there is differs from one token to the next. */
const DECIDING: readonly string[] = [CLUSTER_NAME_EXTRA, SCOPES_EXTRA, WARRANT_EXTRA];

/** All of a user that decides which workspaces they may enter, as text: users of equal texts may enter the same. */
export function readerKey({ name, groups, extra }: Identity): string {
  const extras = DECIDING.filter((key) => Object.hasOwn(extra, key)).map((key) => [key, extra[key]] as const);
  return JSON.stringify([name, [...new Set(groups)].sort(), extras]);
}

/** The user that {@link readerKey} made a text of. */
function readerOf(key: string): User {
  const [name, groups, extras] = JSON.parse(key) as [string, string[], [string, string[]][]];
  return new User({ name, groups, extra: Object.fromEntries(extras) });
}
