import { type RbacKey, type RbacObject, RbacPolicy } from "@virtual-workspaces/framework/authz";

/** Logical cluster whose RBAC applies in all workspaces (kcp's `LocalAdminCluster`). */
const SYSTEM_ADMIN = "system:admin";

/**
 * Roles and bindings of many logical clusters, one {@link RbacPolicy} each; the owner of the watches keeps them
 * current. The objects must have been validated when they were written, and must not change. A workspace with only its
 * `workspace-admin` takes about 400 bytes.
 */
export class RbacPolicies {
  /** Policy of `system:admin`, which applies in every workspace. */
  readonly bootstrap: RbacPolicy = new RbacPolicy();
  readonly #policies = new Map<string, RbacPolicy>();

  /** Number of logical clusters with roles or bindings, without `system:admin`. */
  get size(): number {
    return this.#policies.size;
  }

  /** Returns the policy of a logical cluster; `undefined` if it has none. The same object as long as it is not empty. */
  of(cluster: string): RbacPolicy | undefined {
    return cluster === SYSTEM_ADMIN ? this.bootstrap : this.#policies.get(cluster);
  }

  /** Adds an object, or replaces the one of its kind, namespace and name. */
  set(cluster: string, object: RbacObject): void {
    let policy = this.of(cluster);
    if (policy === undefined) {
      policy = new RbacPolicy();
      this.#policies.set(cluster, policy);
    }
    policy.setValidated(object);
  }

  /** Removes an object. @returns whether it was there */
  delete(cluster: string, key: RbacKey): boolean {
    const policy = this.of(cluster);
    if (policy?.delete(key) !== true) return false;
    if (policy.empty) this.#policies.delete(cluster);
    return true;
  }

  /** Removes the policy of a logical cluster that is deleted. Has no effect on `system:admin`. */
  drop(cluster: string): void {
    this.#policies.delete(cluster);
  }
}
