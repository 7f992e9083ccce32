import type { Identity } from "../../request/user.ts";
import type { RbacBinding, Subject } from "./objects.ts";

/** User that a binding may apply to. */
export type Named = Pick<Identity, "name" | "groups">;

/** Up to this many subjects are searched linearly: an index would take more memory than the bindings. */
const FEW = 16;

/** Bindings of one namespace, or of the cluster. The cost of a lookup depends on the user's groups and bindings. */
export class Bindings {
  #few: readonly RbacBinding[] | undefined = [];
  #index: SubjectIndex | undefined;

  get empty(): boolean {
    return this.#few === undefined ? this.#index?.empty === true : this.#few.length === 0;
  }

  get(name: string): RbacBinding | undefined {
    return this.#few === undefined ? this.#index?.get(name) : this.#few.find(({ metadata }) => metadata.name === name);
  }

  /** Adds or replaces a binding. */
  set(binding: RbacBinding): void {
    this.delete(binding.metadata.name);
    if (this.#few === undefined) {
      this.#index?.add(binding);
      return;
    }
    const few = [...this.#few, binding];
    if (few.reduce((sum, { subjects = [] }) => sum + subjects.length + 1, 0) <= FEW) {
      this.#few = few;
      return;
    }
    this.#few = undefined;
    this.#index = new SubjectIndex();
    for (const one of few) this.#index.add(one);
  }

  delete(name: string): boolean {
    if (this.#few === undefined) return this.#index?.remove(name) === true;
    const rest = this.#few.filter(({ metadata }) => metadata.name !== name);
    const found = rest.length < this.#few.length;
    if (found) this.#few = rest;
    return found;
  }

  /** Adds the bindings of a user, by name and by groups, to `into`. */
  collect(who: Named, into: Set<RbacBinding>): void {
    if (this.#few === undefined) this.#index?.collect(who, into);
    else for (const one of this.#few) if (subjectOf(one, who) !== undefined) into.add(one);
  }
}

/** Returns the first subject of a binding that matches a user. */
export function subjectOf(
  { subjects = [], metadata: { namespace = "" } }: RbacBinding,
  who: Named,
): Subject | undefined {
  return subjects.find((subject) => {
    if (subject.kind === "Group") return who.groups.includes(subject.name);
    if (subject.kind === "User") return subject.name === who.name;
    return who.name.startsWith(SERVICE_ACCOUNT) && who.name === accountOf(subject, namespace);
  });
}

class SubjectIndex {
  readonly #names = new Map<string, RbacBinding>();
  readonly #users = new Map<string, Set<RbacBinding>>();
  readonly #groups = new Map<string, Set<RbacBinding>>();

  get empty(): boolean {
    return this.#names.size === 0;
  }

  get(name: string): RbacBinding | undefined {
    return this.#names.get(name);
  }

  add(binding: RbacBinding): void {
    this.#names.set(binding.metadata.name, binding);
    for (const [names, name] of this.#places(binding)) {
      const bound = names.get(name);
      if (bound === undefined) names.set(name, new Set([binding]));
      else bound.add(binding);
    }
  }

  remove(name: string): boolean {
    const binding = this.#names.get(name);
    if (binding === undefined) return false;
    for (const [names, subject] of this.#places(binding)) {
      const bound = names.get(subject);
      bound?.delete(binding);
      if (bound?.size === 0) names.delete(subject);
    }
    return this.#names.delete(name);
  }

  collect({ name, groups }: Named, into: Set<RbacBinding>): void {
    addAll(this.#users.get(name), into);
    if (this.#groups.size > 0) for (const group of groups) addAll(this.#groups.get(group), into);
  }

  /** Returns the indexes and keys of a binding. */
  #places({
    subjects = [],
    metadata: { namespace = "" },
  }: RbacBinding): readonly [Map<string, Set<RbacBinding>>, string][] {
    return subjects.map((subject) => {
      if (subject.kind === "Group") return [this.#groups, subject.name];
      return [this.#users, subject.kind === "User" ? subject.name : accountOf(subject, namespace)];
    });
  }
}

const SERVICE_ACCOUNT = "system:serviceaccount:";

function addAll(bindings: ReadonlySet<RbacBinding> | undefined, into: Set<RbacBinding>): void {
  if (bindings === undefined) return;
  for (const binding of bindings) into.add(binding);
}

/** Returns the user name in the tokens of a service account. */
function accountOf({ name, namespace = "" }: Subject, own: string): string {
  return `${SERVICE_ACCOUNT}${namespace === "" ? own : namespace}:${name}`;
}
