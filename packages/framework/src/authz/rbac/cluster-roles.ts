import { isApiError } from "@virtual-workspaces/apimachinery";
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";
import type { ClusterRole, PolicyRule, RbacObject } from "./objects.ts";

interface Held {
  readonly role: ClusterRole;
  /** Selectors of the roles whose rules replace its own. */
  readonly selectors: readonly LabelSelector[] | undefined;
}

/** ClusterRoles by name, including aggregated ones (which Kubernetes' aggregation controller writes). */
export class ClusterRoles {
  readonly #held = new Map<string, Held>();
  /** Rules of aggregated roles, cached until a role changes. */
  readonly #aggregated = new Map<string, readonly PolicyRule[]>();

  get empty(): boolean {
    return this.#held.size === 0;
  }

  set(role: ClusterRole): void {
    const selectors = role.aggregationRule?.clusterRoleSelectors?.flatMap(selectorOf);
    this.#held.set(role.metadata.name, { role, selectors });
    this.#aggregated.clear();
  }

  delete(name: string): boolean {
    this.#aggregated.clear();
    return this.#held.delete(name);
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** Returns `undefined` when there is no such role. */
  rules(name: string): readonly PolicyRule[] | undefined {
    const held = this.#held.get(name);
    if (held?.selectors === undefined) return held === undefined ? undefined : (held.role.rules ?? []);
    let rules = this.#aggregated.get(name);
    if (rules === undefined) {
      rules = this.#aggregate(name);
      this.#aggregated.set(name, rules);
    }
    return rules;
  }

  /** Returns the rules of all roles that it aggregates, directly or indirectly, each once. Cycles end. */
  #aggregate(name: string): readonly PolicyRule[] {
    const seen = new Set([name]);
    const rules = new Map<string, PolicyRule>();
    // A set may grow during iteration: new entries are visited too.
    for (const at of seen) {
      const { role, selectors } = this.#held.get(at) as Held;
      if (selectors === undefined) for (const rule of role.rules ?? []) rules.set(JSON.stringify(rule), rule);
      else for (const found of this.#selected(selectors)) seen.add(found);
    }
    return [...rules.values()];
  }

  #selected(selectors: readonly LabelSelector[]): readonly string[] {
    const all = [...this.#held].filter(([, { role }]) => selectors.some((one) => one.matches(role.metadata.labels)));
    return all.map(([name]) => name).sort();
  }
}

/** Security: an invalid selector selects nothing. To throw would stop the server that reads a role from its store. */
function selectorOf(selector: LabelSelectorObject): LabelSelector[] {
  try {
    return [labelSelectorFromObject(selector)];
  } catch (error) {
    if (isApiError(error)) return [];
    throw error;
  }
}

/** Returns the fields that decisions need; the rest would only take memory. */
export function essential(object: RbacObject): RbacObject {
  const { name } = object.metadata;
  switch (object.kind) {
    case "Role":
      return { kind: "Role", metadata: { name, namespace: object.metadata.namespace }, rules: rulesOf(object.rules) };
    case "ClusterRole": {
      const { labels } = object.metadata;
      const { aggregationRule } = object;
      return {
        kind: "ClusterRole",
        metadata: labels === undefined ? { name } : { name, labels },
        rules: rulesOf(object.rules),
        ...(aggregationRule && { aggregationRule }),
      };
    }
    case "RoleBinding": {
      const { roleRef, metadata, subjects } = object;
      const { kind, name: role } = roleRef;
      const namespaced = { name, namespace: metadata.namespace };
      return { kind: "RoleBinding", metadata: namespaced, roleRef: { kind, name: role }, subjects: exact(subjects) };
    }
    case "ClusterRoleBinding": {
      const { roleRef, subjects } = object;
      const { kind, name: role } = roleRef;
      return {
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { kind, name: role },
        subjects: exact(subjects),
      };
    }
  }
}

/** External objects may have null for a missing field. */
function rulesOf(rules: readonly PolicyRule[] | null | undefined): readonly PolicyRule[] {
  return rules ?? [];
}

type Subjects = NonNullable<Extract<RbacObject, { kind: "RoleBinding" }>["subjects"]>;

function exact(subjects: Subjects | null | undefined): Subjects {
  return (subjects ?? []).map(({ kind, name, namespace }) =>
    namespace === undefined || kind !== "ServiceAccount" ? { kind, name } : { kind, name, namespace },
  );
}
