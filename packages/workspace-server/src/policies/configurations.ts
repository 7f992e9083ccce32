import { type Policy, type PolicyPhase, policyOf, type StoredBinding, type StoredPolicy } from "./policy.ts";

const NONE: readonly Policy[] = Object.freeze([]);

/** Where a policy or a binding is. */
export interface PolicyPlace {
  readonly cluster: string;
  readonly phase: PolicyPhase;
  readonly what: "policies" | "bindings";
}

interface Kept {
  readonly policies: Map<string, StoredPolicy>;
  readonly bindings: Map<string, StoredBinding>;
  ready: readonly Policy[] | undefined;
}

/**
 * Policies and bindings of many logical clusters, by phase; the owner of the watches keeps them current. A logical cluster
 * without any takes no memory.
 */
export class PolicyConfigurations {
  readonly #phases: Readonly<Record<PolicyPhase, Map<string, Kept>>> = { mutating: new Map(), validating: new Map() };

  /** Whether no logical cluster has any. */
  get isEmpty(): boolean {
    return this.#phases.mutating.size + this.#phases.validating.size === 0;
  }

  /** Returns the policies of a logical cluster that have bindings, by name. The same list while nothing changes. */
  in(cluster: string, phase: PolicyPhase): readonly Policy[] {
    const kept = this.#phases[phase].get(cluster);
    if (kept === undefined) return NONE;
    kept.ready ??= readyOf(phase, kept);
    return kept.ready;
  }

  /** Returns a stored policy. */
  policy(cluster: string, phase: PolicyPhase, name: string): StoredPolicy | undefined {
    return this.#phases[phase].get(cluster)?.policies.get(name);
  }

  /** Adds a policy or a binding, or replaces the one of its name. */
  set({ cluster, phase, what }: PolicyPlace, object: StoredPolicy | StoredBinding): void {
    const kept = this.#phases[phase].get(cluster) ?? { policies: new Map(), bindings: new Map(), ready: undefined };
    (kept[what] as Map<string, unknown>).set(object.metadata.name ?? "", object);
    kept.ready = undefined;
    this.#phases[phase].set(cluster, kept);
  }

  delete({ cluster, phase, what }: PolicyPlace, name: string): void {
    const kept = this.#phases[phase].get(cluster);
    if (kept === undefined) return;
    kept[what].delete(name);
    kept.ready = undefined;
    if (kept.policies.size + kept.bindings.size === 0) this.#phases[phase].delete(cluster);
  }
}

function readyOf(phase: PolicyPhase, { policies, bindings }: Kept): readonly Policy[] {
  const byPolicy = Map.groupBy(sorted(bindings), ({ spec }) => spec.policyName);
  return sorted(policies).flatMap((policy) => {
    const own = byPolicy.get(policy.metadata.name ?? "");
    return own === undefined ? [] : [policyOf(phase, policy, own)];
  });
}

function sorted<T>(byName: ReadonlyMap<string, T>): T[] {
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}
