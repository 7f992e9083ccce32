import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type {
  MatchResources,
  MutatingPolicyContent,
  ParamKind,
  ParamRef,
  PolicyBindingContent,
  ValidatingPolicyContent,
} from "../kinds/policy-kinds.ts";
import { type RequestMatch, selectorOf } from "../webhooks/request-match.ts";
import { type CompiledPolicy, compiledMutations, compiledValidations } from "./compiled.ts";

/** Phase of admission that evaluates a policy. */
export type PolicyPhase = "mutating" | "validating";

/** Requests that a policy or a binding applies to. */
export interface PolicyMatch extends RequestMatch {
  readonly excluded: readonly RequestMatch["rules"][number][];
}

/** Policy with its bindings, ready to be matched and evaluated. */
export interface Policy {
  readonly name: string;
  readonly match: PolicyMatch;
  readonly paramKind: ParamKind | undefined;
  /** Whether failures do not reject a request. */
  readonly isIgnored: boolean;
  /** Whether a mutating policy is evaluated again after later changes. */
  readonly isReinvoked: boolean;
  /** Returns the expressions, compiled when a request first needs them. */
  readonly compiled: () => CompiledPolicy;
  readonly bindings: readonly PolicyBinding[];
}

/** Binding of a policy. */
export interface PolicyBinding {
  readonly name: string;
  /** @default all requests of the policy */
  readonly match: PolicyMatch | undefined;
  readonly paramRef: ParamRef | undefined;
  readonly actions: readonly string[];
}

type Contents = { readonly validating: ValidatingPolicyContent; readonly mutating: MutatingPolicyContent };

/** Stored policy of a phase. */
export type StoredPolicy<P extends PolicyPhase = PolicyPhase> = KubeObject & Contents[P];
/** Stored binding of either phase. */
export type StoredBinding = KubeObject & PolicyBindingContent;

/** Returns a policy with its bindings. */
export function policyOf(phase: PolicyPhase, policy: StoredPolicy, bindings: readonly StoredBinding[]): Policy {
  const { spec, metadata } = policy;
  const compile = (): CompiledPolicy =>
    phase === "validating"
      ? compiledValidations((policy as StoredPolicy<"validating">).spec)
      : compiledMutations((policy as StoredPolicy<"mutating">).spec);
  return {
    name: metadata.name ?? "",
    match: matchOf(spec.matchConstraints),
    paramKind: spec.paramKind,
    isIgnored: spec.failurePolicy === "Ignore",
    isReinvoked: "reinvocationPolicy" in spec && spec.reinvocationPolicy === "IfNeeded",
    compiled: compile,
    bindings: bindings.map(({ metadata: { name = "" }, spec: own }) => ({
      name,
      match: own.matchResources && matchOf(own.matchResources),
      paramRef: own.paramRef,
      actions: own.validationActions ?? [],
    })),
  };
}

function matchOf(match: MatchResources): PolicyMatch {
  return {
    rules: match.resourceRules ?? [],
    excluded: match.excludeResourceRules ?? [],
    isEquivalent: match.matchPolicy !== "Exact",
    namespaceSelector: selectorOf(match.namespaceSelector),
    objectSelector: selectorOf(match.objectSelector),
  };
}
