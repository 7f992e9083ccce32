import { type RbacKey, type RbacObject, RbacPolicy } from "@virtual-workspaces/framework/authz";

/** Where what counts in all workspaces lies (kcp's `LocalAdminCluster`). */
const SYSTEM_ADMIN = "system:admin";

/**
 * The roles and bindings of many logical clusters, one {@link RbacPolicy} each, kept current by whoever watches them. The
 * objects must have been validated when they were written, and must not change any more. A workspace that holds nothing but
 * its `workspace-admin` takes about 400 bytes.
 */
export class RbacPolicies {
  /** That of `system:admin`: what counts in every workspace. */
  readonly bootstrap: RbacPolicy = new RbacPolicy();
  readonly #policies = new Map<string, RbacPolicy>();

  /** How many logical clusters have roles or bindings, `system:admin` not counted. */
  get size(): number {
    return this.#policies.size;
  }

  /** Those of a logical cluster; `undefined` when it has none. Always the same as long as it has some. */
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

  /** Removes all of a logical cluster, when it goes as a whole. Not of `system:admin`. */
  drop(cluster: string): void {
    this.#policies.delete(cluster);
  }
}
