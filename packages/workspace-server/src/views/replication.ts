import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { FollowedDependency, ViewDependency } from "@virtual-workspaces/framework";
import { SYSTEM_ADMIN_CLUSTER } from "@virtual-workspaces/kcp";
import type { ShardState } from "../state/shard-state.ts";
import type { Tracked } from "../state/informers/informer.ts";

/**
 * What decides which ClusterRoles, ClusterRoleBindings and LogicalClusters of a shard are replicated: each other, within a
 * logical cluster, its exports and workspace types, and the shipped roles.
 */
export class Replication implements ViewDependency {
  readonly #state: ShardState;
  readonly #shown: Tracked;

  /** @param shown of which kind it is asked */
  constructor(state: ShardState, shown: Tracked) {
    this.#state = state;
    this.#shown = shown;
  }

  follow(_by: undefined, again: (key?: ObjectKey) => void): FollowedDependency {
    const { rbac, logicalClusters, apiExports, workspaceTypes } = this.#state;
    const { store } = this.#shown;
    const inCluster = ({ cluster }: ObjectKey): void => {
      for (const key of store.keysIn(cluster)) again(key);
    };
    const roles = (key: ObjectKey): void => (key.cluster === SYSTEM_ADMIN_CLUSTER ? again() : inCluster(key));
    const stack = new DisposableStack();
    stack.use(rbac.clusterRoles.onChangedKey(roles));
    const others = [rbac.clusterRoleBindings, logicalClusters, apiExports, workspaceTypes];
    for (const tracked of others) stack.use(tracked.onChangedKey(inCluster));
    return {
      confirm: async (request) => {
        await Promise.all([rbac.clusterRoles, ...others].map((tracked) => tracked.confirm(request)));
      },
      [Symbol.dispose]: () => stack[Symbol.dispose](),
    };
  }
}
