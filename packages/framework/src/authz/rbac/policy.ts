import { quote } from "@virtual-workspaces/apimachinery";
import type { Identity } from "../../user.ts";
import { checkedObject } from "./check.ts";
import { ClusterRoles } from "./cluster-roles.ts";
import {
  type ClusterRoleBinding,
  type PolicyRule,
  RBAC_GROUP,
  type RbacKey,
  type RbacObject,
  type Role,
  type RoleBinding,
} from "./objects.ts";
import { SubjectIndex } from "./subjects.ts";

type Binding = RoleBinding | ClusterRoleBinding;

/** What somebody is given by one binding. */
export interface Grant {
  /** "" for everywhere. */
  readonly namespace: string;
  /** Why not, where the role is not there. */
  readonly rules: readonly PolicyRule[] | string;
}

/**
 * Roles and bindings, indexed by subject: a check costs as much as the caller has groups and bindings, however many there
 * are of others, and a change costs as much as the object has subjects. Give it to {@link rbac}; a source that changes
 * calls {@link set} and {@link delete}, and the next request is decided by that.
 */
export class RbacPolicy {
  readonly #roles = new Map<string, Role>();
  readonly #clusterRoles = new ClusterRoles();
  readonly #bindings = new Map<string, Binding>();
  /** By namespace, "" for bindings of the whole cluster. */
  readonly #subjects = new Map<string, SubjectIndex>();

  /** @throws Error on an object that Kubernetes would not take, with its fields, or one that is given twice */
  constructor(objects: Iterable<RbacObject> = []) {
    for (const object of objects) {
      const checked = checkedObject(object);
      if (this.#has(checked)) throw new Error(`rbac: ${checked.kind} ${quote(checked.metadata.name)} is given twice`);
      this.#set(checked);
    }
  }

  /** Adds an object, or replaces the one of its name. @throws Error on one that Kubernetes would not take; nothing changes */
  set(object: RbacObject): void {
    this.#set(checkedObject(object));
  }

  /** Removes an object. @returns whether it was there */
  delete(key: RbacKey): boolean {
    const { kind, metadata } = key;
    if (kind === "ClusterRole") return this.#clusterRoles.delete(metadata.name ?? "");
    if (kind === "Role") return this.#roles.delete(keyOf(key));
    const binding = this.#bindings.get(keyOf(key));
    if (binding === undefined) return false;
    const { namespace = "" } = binding.metadata;
    const index = this.#subjects.get(namespace);
    index?.remove(binding);
    if (index?.empty === true) this.#subjects.delete(namespace);
    return this.#bindings.delete(keyOf(key));
  }

  /** What somebody has been given within a namespace, "" for none: what holds everywhere first. */
  *grants(user: Pick<Identity, "name" | "groups">, namespace: string): Iterable<Grant> {
    const bindings = new Set<Binding>();
    this.#subjects.get("")?.collect(user, bindings);
    if (namespace !== "") this.#subjects.get(namespace)?.collect(user, bindings);
    for (const { roleRef, metadata } of bindings) {
      const bound = metadata.namespace ?? "";
      yield { namespace: bound, rules: this.#rules(roleRef.kind, { name: roleRef.name, namespace: bound }) };
    }
  }

  #rules(kind: "ClusterRole" | "Role", metadata: { name: string; namespace: string }): readonly PolicyRule[] | string {
    const rules =
      kind === "ClusterRole"
        ? this.#clusterRoles.rules(metadata.name)
        : rulesOf(this.#roles.get(keyOf({ kind, metadata })));
    return rules ?? `${kind.toLowerCase()}.${RBAC_GROUP} ${quote(metadata.name)} not found`;
  }

  #has(object: RbacObject): boolean {
    if (object.kind === "ClusterRole") return this.#clusterRoles.has(object.metadata.name);
    return (object.kind === "Role" ? this.#roles : this.#bindings).has(keyOf(object));
  }

  #set(object: RbacObject): void {
    if (object.kind === "ClusterRole") this.#clusterRoles.set(object);
    else if (object.kind === "Role") this.#roles.set(keyOf(object), object);
    else {
      this.delete(object);
      this.#bindings.set(keyOf(object), object);
      this.#index(object.metadata.namespace ?? "").add(object);
    }
  }

  #index(namespace: string): SubjectIndex {
    let index = this.#subjects.get(namespace);
    if (index === undefined) {
      index = new SubjectIndex();
      this.#subjects.set(namespace, index);
    }
    return index;
  }
}

function keyOf({ kind, metadata }: RbacKey): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

function rulesOf(role: Role | undefined): readonly PolicyRule[] | undefined {
  return role === undefined ? undefined : (role.rules ?? []);
}
