import type { Identity } from "../../user.ts";
import type { ClusterRoleBinding, RoleBinding, Subject } from "./objects.ts";

type Binding = RoleBinding | ClusterRoleBinding;

/** Bindings of one namespace, or of all, by subject: finding somebody's costs as much as they have groups and bindings. */
export class SubjectIndex {
  readonly #bindings = new Map<string, Set<Binding>>();

  get empty(): boolean {
    return this.#bindings.size === 0;
  }

  add(binding: Binding): void {
    for (const key of keysOf(binding)) {
      const bound = this.#bindings.get(key);
      if (bound === undefined) this.#bindings.set(key, new Set([binding]));
      else bound.add(binding);
    }
  }

  remove(binding: Binding): void {
    for (const key of keysOf(binding)) {
      const bound = this.#bindings.get(key);
      bound?.delete(binding);
      if (bound?.size === 0) this.#bindings.delete(key);
    }
  }

  /** Adds those of a user, by name and by groups. */
  collect({ name, groups }: Pick<Identity, "name" | "groups">, into: Set<Binding>): void {
    if (this.empty) return;
    for (const binding of this.#bindings.get(userKey(name)) ?? []) into.add(binding);
    for (const group of groups) for (const binding of this.#bindings.get(groupKey(group)) ?? []) into.add(binding);
  }
}

const userKey = (name: string): string => `user ${name}`;
const groupKey = (name: string): string => `group ${name}`;

function keysOf({ subjects = [], metadata }: Binding): readonly string[] {
  return subjects.map((subject) => keyOf(subject, metadata.namespace ?? ""));
}

/** A service account is the user that its tokens name. */
function keyOf({ kind, name, namespace = "" }: Subject, own: string): string {
  if (kind === "Group") return groupKey(name);
  if (kind === "User") return userKey(name);
  return userKey(`system:serviceaccount:${namespace === "" ? own : namespace}:${name}`);
}
