import { quote } from "@virtual-workspaces/apimachinery";
import { checkedObject } from "./check-rbac.ts";
import { ClusterRoles, essential } from "./cluster-roles.ts";
import { type PolicyRule, RBAC_GROUP, type RbacBinding, type RbacKey, type RbacObject, type Role } from "./objects.ts";
import { Bindings, type Named } from "./subjects.ts";

/** What somebody is given by one binding, of one role of that name. */
export interface Grant {
  /** "" for everywhere. */
  readonly namespace: string;
  /** Why not, where the role is not there. */
  readonly rules: readonly PolicyRule[] | string;
  readonly binding: RbacBinding;
}

/**
 * Roles and bindings, indexed by subject: a check costs as much as the caller has groups and bindings, however many there
 * are of others, and a change costs as much as the object has subjects. Give it to {@link rbac}; a source that changes
 * calls {@link set} and {@link delete}, and the next request is decided by that. It keeps of objects what it decides by: one
 * with a binding or two takes a few hundred bytes.
 */
export class RbacPolicy {
  #roles: Map<string, Role> | undefined;
  #clusterRoles: ClusterRoles | undefined;
  /** Of the whole cluster. */
  readonly #everywhere = new Bindings();
  #namespaces: Map<string, Bindings> | undefined;

  /** @throws Error on an object that Kubernetes would not take, with its fields, or one that is given twice */
  constructor(objects: Iterable<RbacObject> = []) {
    for (const object of objects) {
      const checked = checkedObject(object);
      if (this.#has(checked)) throw new Error(`rbac: ${checked.kind} ${quote(checked.metadata.name)} is given twice`);
      this.#set(checked);
    }
  }

  /** Whether there is nothing in it. */
  get empty(): boolean {
    const { size = 0 } = this.#roles ?? {};
    return size === 0 && this.#clusterRoles === undefined && this.#everywhere.empty && this.#namespaces === undefined;
  }

  /** Adds an object, or replaces the one of its name. @throws Error on one that Kubernetes would not take; nothing changes */
  set(object: RbacObject): void {
    this.#set(checkedObject(object));
  }

  /**
   * The same of an object that a server has validated when it was written, a hundred times as fast: nothing is checked, and
   * the object must not change any more.
   */
  setValidated(object: RbacObject): void {
    this.#set(object);
  }

  /** Removes an object. @returns whether it was there */
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
   * What somebody has been given within a namespace, "" for none: what holds everywhere first.
   *
   * @param who one who counts as several (kcp's warrants) has what any of them has, each binding once
   * @param also whose roles count as well: the rules of roles of equal names are united. Their bindings do not count
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

  /** The rules of the role that a binding is to, one list of each policy that has such a role; a text: there is none. */
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
