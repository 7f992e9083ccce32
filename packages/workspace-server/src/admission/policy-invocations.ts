import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";
import { BudgetError, conditionsHold, type Evaluation } from "@virtual-workspaces/framework/resource";
import type { Compiled, CompiledPolicy } from "../policies/compiled.ts";
import type { Policy, PolicyBinding, PolicyMatch } from "../policies/policy.ts";
import type { ShardContext } from "../state/context.ts";
import type { Attributes } from "../webhooks/attributes.ts";
import { isSelected, matchedVersion, selectorOf } from "../webhooks/request-match.ts";
import { conditionValues } from "../webhooks/review.ts";
import { AccessChecks } from "./access-checks.ts";
import type { NamespaceOf } from "./namespaces.ts";
import type { AdmissionSource } from "./sources.ts";

/** Policy whose rules match a request. */
export interface PolicyCandidate {
  readonly policy: Policy;
  /** Version in which its expressions see the object. */
  readonly version: ResourceDefinition;
}

const NONE: readonly PolicyCandidate[] = Object.freeze([]);

/** Returns the policies whose rules match. Cheap, because most policies match few requests. */
export function policiesFor(policies: readonly Policy[], request: AdmitRequest): readonly PolicyCandidate[] {
  let found: PolicyCandidate[] | undefined;
  for (const policy of policies) {
    const version = versionFor(policy.match, request);
    if (version === undefined) continue;
    found ??= [];
    found.push({ policy, version });
  }
  return found ?? NONE;
}

function versionFor(match: PolicyMatch, request: AdmitRequest): ResourceDefinition | undefined {
  const { excluded, isEquivalent, rules } = match;
  if (excluded.length > 0 && matchedVersion({ rules: excluded, isEquivalent }, request) !== undefined) return undefined;
  return rules.length === 0 ? request.definition : matchedVersion(match, request);
}

/** A policy with one of its bindings and params, for one request. */
export interface Invocation extends PolicyCandidate {
  readonly binding: PolicyBinding;
  /** `undefined` where the policy has no params, and null where the binding has none. */
  readonly params: KubeObject | null | undefined;
}

/** Failure of a policy or of one of its bindings before its expressions are evaluated. */
export interface Misconfiguration extends PolicyCandidate {
  readonly binding: PolicyBinding | undefined;
  readonly error: string;
}

/** Options of {@link PolicyRequest}. */
export interface PolicyRequestOptions {
  readonly shard: Pick<ShardContext, "authorizer">;
  readonly source: AdmissionSource;
  readonly attributes: Attributes;
  readonly namespaceOf: NamespaceOf;
}

/** Limits of Kubernetes, in steps: of match conditions, and of all other expressions of a binding. */
const CONDITION_STEPS = 2_500_000;
export const BINDING_STEPS = 10_000_000;

/** One request, for the policies of its source. */
export class PolicyRequest {
  readonly attributes: Attributes;
  readonly #source: AdmissionSource;
  readonly #namespaceOf: NamespaceOf;
  readonly #checks: AccessChecks;

  constructor({ shard, source, attributes, namespaceOf }: PolicyRequestOptions) {
    this.attributes = attributes;
    this.#source = source;
    this.#namespaceOf = namespaceOf;
    this.#checks = new AccessChecks(shard.authorizer, attributes);
  }

  /** Returns the invocations of a policy by its bindings, in their order. */
  async invocations(candidate: PolicyCandidate): Promise<(Invocation | Misconfiguration)[]> {
    const { policy } = candidate;
    const failed = (error: unknown, binding?: PolicyBinding): Misconfiguration => {
      const what = `failed to configure ${binding === undefined ? "policy" : "binding"}`;
      return { ...candidate, binding, error: `${what}: ${(error as Error).message}` };
    };
    try {
      if (!(await this.#isSelected(policy.match))) return [];
    } catch (error) {
      return [failed(error)];
    }
    const kind = policy.paramKind && this.#source.shard.paramKind(this.#source.cluster, policy.paramKind);
    if (policy.paramKind !== undefined && kind === undefined) {
      const { apiVersion, kind: name } = policy.paramKind;
      return [failed(new Error(`failed to find resource referenced by paramKind: '{${apiVersion} ${name}}'`))];
    }
    const found: (Invocation | Misconfiguration)[] = [];
    for (const binding of policy.bindings) {
      try {
        if (!(await this.#isBound(binding))) continue;
        const all = await this.#params(policy, binding, kind?.scope);
        found.push(...all.map((params) => ({ ...candidate, binding, params })));
      } catch (error) {
        found.push(failed(error, binding));
      }
    }
    return found;
  }

  /**
   * Evaluates expressions of an invocation. The callback may be called again.
   *
   * @throws ApiError 404 for a missing namespace, and what the callback throws
   */
  async evaluate<T>(
    { policy, version, params }: Invocation,
    evaluate: (evaluation: Evaluation, compiled: CompiledPolicy) => T,
  ): Promise<T> {
    const { attributes } = this;
    const { request, cluster, namespace, name } = attributes;
    const isNamespace = request.definition.group === "" && request.definition.plural === "namespaces";
    const namespaceObject =
      namespace === "" || isNamespace ? null : withoutManagers(await this.#namespaceOf(cluster, namespace));
    const { object, oldObject, request: told } = conditionValues(attributes, version);
    const values = { object, oldObject, request: told, namespaceObject, params };
    const { group, plural: resource } = request.definition;
    const about = { group, resource, subresource: request.subresource, namespace, name };
    const compiled = policy.compiled();
    return this.#checks.settled(() => {
      const authorizer = { ask: this.#checks.ask, request: about };
      return evaluate(compiled.composer.evaluation({ values, authorizer }), compiled);
    });
  }

  async #isSelected(match: PolicyMatch): Promise<boolean> {
    return isSelected(match, this.attributes, async (cluster, namespace) => {
      return (await this.#namespaceOf(cluster, namespace)).metadata.labels ?? {};
    });
  }

  async #isBound({ match }: PolicyBinding): Promise<boolean> {
    if (match === undefined) return true;
    return versionFor(match, this.attributes.request) !== undefined && (await this.#isSelected(match));
  }

  /** Params are objects of the policy's logical cluster. @throws Error with Kubernetes' text */
  async #params(
    { paramKind }: Policy,
    { paramRef }: PolicyBinding,
    scope: "Cluster" | "Namespaced" | undefined,
  ): Promise<readonly (KubeObject | null | undefined)[]> {
    if (paramKind === undefined) return [undefined];
    if (paramRef === undefined) return [null];
    const { name = "", namespace: given = "", selector, parameterNotFoundAction } = paramRef;
    const namespace = given === "" ? this.attributes.namespace : given;
    if (scope === "Cluster" && given !== "")
      throw new Error("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
    if (scope === "Namespaced" && namespace === "")
      throw new Error("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
    const found = await this.#source.shard.params(this.#source.cluster, {
      ...paramKind,
      namespace: scope === "Namespaced" ? namespace : "",
      of: name === "" ? selectorOf(selector) : name,
    });
    if (found.length === 0 && parameterNotFoundAction === "Deny")
      throw new Error("no params found for policy binding with `Deny` parameterNotFoundAction");
    return found;
  }
}

function withoutManagers({ metadata: { managedFields: _, ...metadata }, ...namespace }: KubeObject): KubeObject {
  return { ...namespace, metadata } as KubeObject;
}

/** Value of an expression, or its error with Kubernetes' text. */
export type Outcome = { readonly value: unknown } | { readonly error: string };

/** Evaluates an expression. @throws BudgetError when the steps are used up */
export function outcomeOf(compiled: Compiled, evaluate: (expression: Exclude<Compiled, Error>) => unknown): Outcome {
  if (compiled instanceof Error) return { error: compiled.message };
  try {
    return { value: evaluate(compiled) };
  } catch (error) {
    if (error instanceof BudgetError) throw error;
    return { error: `expression '${compiled.source}' resulted in error: ${(error as Error).message}` };
  }
}

/** Evaluates the match conditions of a policy. @returns whether they hold, or the errors of some. @throws BudgetError */
export function policyMatches(evaluation: Evaluation, { matchConditions }: CompiledPolicy): boolean | string {
  if (matchConditions.length === 0) return true;
  evaluation.allow(CONDITION_STEPS);
  try {
    return conditionsHold(matchConditions, (expression) => evaluation.evaluate(expression));
  } catch (error) {
    if (error instanceof BudgetError) throw error;
    return (error as Error).message;
  }
}
