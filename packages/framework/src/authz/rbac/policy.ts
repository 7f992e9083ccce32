import { quote } from "@virtual-workspaces/apimachinery";
import { checkedObject } from "./check-rbac.ts";
import { ClusterRoles, essential } from "./cluster-roles.ts";
import { type PolicyRule, RBAC_GROUP, type RbacBinding, type RbacKey, type RbacObject, type Role } from "./objects.ts";
import { Bindings, type Named } from "./subjects.ts";

/** Permissions that a subject gets from one binding and one role with the referenced name. */
export interface Grant {
  /** Namespace; "" for cluster-wide. */
  readonly namespace: string;
  /** Rules, or the error text when the role does not exist. */
  readonly rules: readonly PolicyRule[] | string;
  readonly binding: RbacBinding;
}

/**
 * Roles and bindings, indexed by subject, for {@link rbac}. The cost of a check depends on the caller's groups and bindings,
 * not on those of others; the cost of a change depends on the object's subjects. A source of changes calls {@link set} and
 * {@link delete}, which take effect with the next request. It keeps only the fields that decisions need: an object with one
 * or two bindings takes a few hundred bytes.
 */
export class RbacPolicy {
  #roles: Map<string, Role> | undefined;
  #clusterRoles: ClusterRoles | undefined;
  /** Cluster-wide bindings. */
  readonly #everywhere = new Bindings();
  #namespaces: Map<string, Bindings> | undefined;

  /** @throws Error on an object that Kubernetes would reject, with its fields, or on a duplicate */
  constructor(objects: Iterable<RbacObject> = []) {
    for (const object of objects) {
      const checked = checkedObject(object);
      if (this.#has(checked))
        throw new Error(`rbac: duplicate ${checked.kind} ${quote(checked.metadata.name)}: give each object once`);
      this.#set(checked);
    }
  }

  /** Whether it contains no objects. */
  get empty(): boolean {
    const { size = 0 } = this.#roles ?? {};
    return size === 0 && this.#clusterRoles === undefined && this.#everywhere.empty && this.#namespaces === undefined;
  }

  /** Adds or replaces an object. @throws Error on one that Kubernetes would reject; nothing changes */
  set(object: RbacObject): void {
    this.#set(checkedObject(object));
  }

  /**
   * Adds or replaces an object that a server validated when it was written, a hundred times faster: there is no check, and
   * the object must not change afterwards.
   */
  setValidated(object: RbacObject): void {
    this.#set(object);
  }

  /** Removes an object. @returns whether it existed */
  delete({ kind, metadata: { name = "", namespace = "" } }: RbacKey): boolean {
    if (kind === "Role") return this.#roles?.delete(roleKey(namespace, name)) === true;
    if (kind === "ClusterRoleBinding") return this.#everywhere.delete(name);
    if (kind === "ClusterRole") {
      const deleted = this.#clusterRoles?.delete(name) === true;
      if (this.#clusterRoles?.empty === true) this.#clusterRoles = undefined;
      return deleted;
    }
    const bindings = this.#namespaces?.get(namespace);
    const deleted = bindings?.delete(name) === true;
    if (bindings?.empty === true) this.#namespaces?.delete(namespace);
    if (this.#namespaces?.size === 0) this.#namespaces = undefined;
    return deleted;
  }

  /**
   * Grants of a user within a namespace, "" for none; cluster-wide grants come first.
   *
   * @param who a user with several identities (kcp's warrants) has the grants of each, every binding once
   * @param also policies whose roles count too: rules of roles with equal names are merged. Their bindings do not count
   */
  *grants(who: Named | readonly Named[], namespace: string, also: readonly RbacPolicy[] = []): Iterable<Grant> {
    const bindings = new Set<RbacBinding>();
    const within = namespace === "" ? undefined : this.#namespaces?.get(namespace);
    for (const one of isSeveral(who) ? who : [who]) {
      this.#everywhere.collect(one, bindings);
      within?.collect(one, bindings);
    }
    for (const binding of bindings) {
      const bound = binding.metadata.namespace ?? "";
      const found = this.roleRules(binding, also);
      if (typeof found === "string") yield { binding, namespace: bound, rules: found };
      else for (const rules of found) yield { binding, namespace: bound, rules };
    }
  }

  /** Returns the rules of a binding's role, one list for each policy that has the role; a string when none has it. */
  roleRules(
    { roleRef: { kind, name }, metadata: { namespace = "" } }: Pick<RbacBinding, "roleRef" | "metadata">,
    also: readonly RbacPolicy[] = [],
  ): readonly (readonly PolicyRule[])[] | string {
    const own = this.#rules(kind, namespace, name);
    const found = own === undefined ? [] : [own];
    for (const policy of also) {
      const rules = policy.#rules(kind, namespace, name);
      if (rules !== undefined) found.push(rules);
    }
    return found.length > 0 ? found : `${kind.toLowerCase()}.${RBAC_GROUP} ${quote(name)} not found`;
  }

  #rules(kind: "ClusterRole" | "Role", namespace: string, name: string): readonly PolicyRule[] | undefined {
    if (kind === "ClusterRole") return this.#clusterRoles?.rules(name);
    const role = this.#roles?.get(roleKey(namespace, name));
    return role === undefined ? undefined : (role.rules ?? []);
  }

  #has({ kind, metadata: { name, namespace = "" } }: RbacObject): boolean {
    if (kind === "ClusterRole") return this.#clusterRoles?.has(name) === true;
    if (kind === "Role") return this.#roles?.has(roleKey(namespace, name)) === true;
    const bindings = kind === "ClusterRoleBinding" ? this.#everywhere : this.#namespaces?.get(namespace);
    return bindings?.get(name) !== undefined;
  }

  #set(given: RbacObject): void {
    const object = essential(given);
    const { name, namespace = "" } = object.metadata;
    if (object.kind === "ClusterRole") {
      this.#clusterRoles ??= new ClusterRoles();
      this.#clusterRoles.set(object);
    } else if (object.kind === "Role") {
      this.#roles ??= new Map();
      this.#roles.set(roleKey(namespace, name), object);
    } else if (object.kind === "ClusterRoleBinding") this.#everywhere.set(object);
    else {
      this.#namespaces ??= new Map();
      const bindings = this.#namespaces.get(namespace) ?? new Bindings();
      bindings.set(object);
      this.#namespaces.set(namespace, bindings);
    }
  }
}

function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function isSeveral(who: Named | readonly Named[]): who is readonly Named[] {
  return Array.isArray(who);
}
