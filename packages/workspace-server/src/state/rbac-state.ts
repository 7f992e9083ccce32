import type { RbacKey, RbacObject } from "@virtual-workspaces/framework";
import { RbacPolicies } from "../authz/rbac-policies.ts";
import {
  type BindingContent,
  ClusterRole,
  ClusterRoleBinding,
  type ClusterRoleKindContent,
  Role,
  RoleBinding,
} from "../kinds/rbac.ts";
import type { ShardObjects } from "./objects.ts";
import type { Tracked } from "./informers/informer.ts";

const WITH_CLUSTER = { read: "withCluster" } as const;

/** The roles and bindings of a shard as policies, as current as what is told of its store. */
export class RbacState {
  readonly policies: RbacPolicies = new RbacPolicies();
  readonly clusterRoles: Tracked<ClusterRoleKindContent>;
  readonly clusterRoleBindings: Tracked<BindingContent>;

  constructor(objects: ShardObjects) {
    this.clusterRoles = this.#follow(objects.track(ClusterRole, WITH_CLUSTER));
    this.clusterRoleBindings = this.#follow(objects.track(ClusterRoleBinding, WITH_CLUSTER));
    this.#follow(objects.track(Role, WITH_CLUSTER));
    this.#follow(objects.track(RoleBinding, WITH_CLUSTER));
  }

  /** For as long as they are tracked. */
  #follow<T extends object>(tracked: Tracked<T>): Tracked<T> {
    const set = (object: unknown, cluster: string): void => this.policies.set(cluster, object as RbacObject);
    tracked.mirror({
      added: (object, { key }) => set(object, key.cluster),
      updated: (object, _, { key }) => set(object, key.cluster),
      deleted: (object, { key }) => this.policies.delete(key.cluster, object as unknown as RbacKey),
    });
    return tracked;
  }
}
