import { ApiError, isApiError, type JsonObject, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import { mergeConfiguration } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson, equalJson } from "@virtual-workspaces/apimachinery/json";
import { applyJsonPatch } from "@virtual-workspaces/apimachinery/patch";
import { BudgetError, type Evaluation } from "@virtual-workspaces/framework/resource";
import type { CompiledMutation } from "../policies/compiled.ts";
import { changedObject } from "./changed-object.ts";
import {
  BINDING_STEPS,
  type Invocation,
  type Misconfiguration,
  outcomeOf,
  type PolicyCandidate,
  type PolicyRequest,
  policyMatches,
} from "./policy-invocations.ts";
import { forbidden } from "./policy-validation.ts";
import { type Mutator, Reinvocation } from "./reinvocation.ts";

/** Error of a policy, which its failure policy decides about. */
interface PolicyFailure extends Pick<Misconfiguration, "policy" | "binding"> {
  readonly message: string;
  /** Whether the configuration failed, not an expression. */
  readonly isConfiguration: boolean;
}

/** Evaluates policies that mutate one after the other; each sees the changes of those before it. */
export class PolicyMutator implements Mutator {
  readonly #candidates: readonly PolicyCandidate[];
  readonly #request: PolicyRequest;
  readonly #reinvocation = new Reinvocation<string>();

  constructor(candidates: readonly PolicyCandidate[], request: PolicyRequest) {
    this.#candidates = candidates;
    this.#request = request;
  }

  /** @throws ApiError 403 for failures of policies that reject them */
  async run(round: number): Promise<boolean> {
    const { attributes } = this.#request;
    const failures: PolicyFailure[] = [];
    const invocations: Invocation[] = [];
    for (const candidate of this.#candidates) {
      for (const found of await this.#request.invocations(candidate)) {
        if (!("error" in found)) invocations.push(found);
        else failures.push({ ...found, message: found.error, isConfiguration: true });
      }
    }
    let isChanged = false;
    this.#reinvocation.begin(round, attributes.object);
    for (const invocation of invocations) {
      if (attributes.object === undefined) break;
      if (await this.#invoke(invocation, round, failures)) isChanged = true;
    }
    this.#reinvocation.end(attributes.object);
    const counted = failures.filter(({ policy }) => !policy.isIgnored);
    if (counted.length > 0) throw denialOf(counted, forbidden(attributes, "admission request denied by policy"));
    return isChanged;
  }

  /** Evaluates the mutations of one invocation. @returns whether the object has changed */
  async #invoke(invocation: Invocation, round: number, failures: PolicyFailure[]): Promise<boolean> {
    const { policy, binding, params } = invocation;
    const { attributes } = this.#request;
    const failed = (message: string): void => void failures.push({ policy, binding, message, isConfiguration: false });
    const key = JSON.stringify([policy.name, binding.name, params?.metadata.namespace, params?.metadata.name]);
    const hold = await this.#request.evaluate(invocation, (...both) => orBudget(() => policyMatches(...both)));
    if (typeof hold === "string") failed(hold);
    if (hold !== true || !this.#reinvocation.includes(round, key)) return false;
    const before = attributes.object;
    for (const at of policy.compiled().mutations.keys()) {
      const result = await this.#request.evaluate(invocation, (evaluation, { mutations }) =>
        this.#mutated(invocation, evaluation, mutations[at] as CompiledMutation),
      );
      if ("error" in result) failed(result.error);
      else attributes.object = result.object;
    }
    const isChanged = !equalJson(attributes.object, before);
    if (isChanged) this.#reinvocation.changed();
    if (policy.isReinvoked) this.#reinvocation.called(key);
    return isChanged;
  }

  /** Returns the object after one mutation, or its error. @throws ApiError 500 for a change that no policy may make */
  #mutated(
    { policy, version }: Invocation,
    evaluation: Evaluation,
    { type, expression }: CompiledMutation,
  ): { readonly object: KubeObject } | { readonly error: string } {
    const { attributes } = this.#request;
    const before = attributes.object as KubeObject;
    const live = attributes.as(before, version) as KubeObject;
    evaluation.allow(BINDING_STEPS);
    const made = orBudget(() => outcomeOf(expression, (one) => evaluation.evaluate(one)));
    if (typeof made === "string") return { error: made };
    if ("error" in made) return made;
    try {
      const next =
        type === "JSONPatch"
          ? patched(live, evaluation.patchOf(made.value))
          : applied(live, evaluation.objectOf(made.value), version.schema);
      const by = `policy ${quote(policy.name)}`;
      return { object: changedObject(attributes, { version, before, next: cloneJson(next) as KubeObject, by }) };
    } catch (error) {
      if (isApiError(error)) throw error;
      return { error: (error as Error).message };
    }
  }
}

function orBudget<T>(evaluate: () => T): T | string {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof BudgetError) return error.message;
    throw error;
  }
}

/** A patch whose test fails changes nothing. @throws Error with Kubernetes' text */
function patched(live: KubeObject, operations: unknown): unknown {
  try {
    return applyJsonPatch(live, operations);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const [cause] = error.status.details?.causes ?? [];
    const message = cause?.message ?? error.message;
    if (message.endsWith(": test failed")) return live;
    throw new Error(`JSON Patch: ${message}`);
  }
}

/** @throws Error with Kubernetes' text */
function applied(live: KubeObject, config: unknown, schema: Invocation["version"]["schema"]): unknown {
  const { apiVersion, kind } = live;
  try {
    return mergeConfiguration({
      live: live as unknown as JsonObject,
      config: { ...(config as JsonObject), apiVersion, kind },
      schema,
    });
  } catch (error) {
    throw new Error(`error applying patch: ${(error as Error).message}`);
  }
}

/** Returns the error of a request that policies reject, with the message of the first. */
function denialOf(failures: readonly PolicyFailure[], { status }: ApiError): ApiError {
  const messages = failures.map(({ policy, binding, message }) =>
    binding === undefined
      ? `policy ${quote(policy.name)} denied request: ${message}`
      : `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`,
  );
  return new ApiError({
    ...status,
    message: messages[0] ?? "",
    ...(failures[0]?.isConfiguration === false && { reason: "Invalid" as const }),
    details: { ...status.details, causes: messages.map((message) => ({ message })) },
  });
}
