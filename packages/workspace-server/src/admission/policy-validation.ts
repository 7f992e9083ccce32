import { ApiError, type StatusReason } from "@virtual-workspaces/apimachinery";
import { BudgetError, type Evaluation, groupResourceOf } from "@virtual-workspaces/framework/resource";
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation } from "../policies/compiled.ts";
import type { Attributes } from "../webhooks/attributes.ts";
import {
  BINDING_STEPS,
  type Invocation,
  type Misconfiguration,
  outcomeOf,
  type PolicyCandidate,
  type PolicyRequest,
  policyMatches,
} from "./policy-invocations.ts";

/** Limit of a message of a message expression, in bytes. */
const LONGEST_MESSAGE = 5 * 1024;
/** Limit of an audit annotation, in characters. */
const LONGEST_ANNOTATION = 10 * 1024;

/** Limit of failures in an audit event, as in Kubernetes. */
const MOST_FAILURES = 50;

/** Failed validation. */
interface Failure {
  readonly index: number;
  readonly message: string;
  readonly reason?: string | undefined;
}

type Annotation = { readonly key: string } & ({ readonly value: string } | { readonly error: string });

interface Judgement {
  readonly failures: readonly Failure[];
  readonly annotations: readonly Annotation[];
}

/** Evaluates policies that validate. @throws ApiError of the first rejection, in the order of policies and bindings */
export async function validateByPolicies(
  candidates: readonly PolicyCandidate[],
  request: PolicyRequest,
): Promise<void> {
  let denial: ApiError | undefined;
  const { attributes } = request;
  const deny = (
    of: Pick<Misconfiguration, "policy" | "binding">,
    { message, reason }: Omit<Failure, "index">,
  ): void => {
    denial ??= denialOf(of, attributes, { message, reason });
  };
  const audited: AuditedFailure[] = [];
  for (const candidate of candidates) {
    const { policy } = candidate;
    const annotations = new Map<string, Set<string>>();
    for (const invocation of await request.invocations(candidate)) {
      if ("error" in invocation) {
        if (!policy.isIgnored) deny(invocation, { message: invocation.error });
        continue;
      }
      const judged = await request.evaluate(invocation, (evaluation, compiled) =>
        judge(evaluation, compiled, policy.isIgnored),
      );
      for (const failure of judged.failures) act(failure, invocation, { attributes, deny, audited });
      for (const annotation of judged.annotations) {
        if ("error" in annotation) deny(invocation, { message: annotation.error });
        else annotations.set(annotation.key, (annotations.get(annotation.key) ?? new Set()).add(annotation.value));
      }
    }
    for (const [key, values] of annotations)
      attributes.request.audit?.annotate(`${policy.name}/${key}`, [...values].join(", "));
  }
  if (audited.length > 0) {
    const shown = JSON.stringify(audited.slice(0, MOST_FAILURES));
    attributes.request.audit?.annotate("validation.policy.admission.k8s.io/validation_failure", shown);
  }
  if (denial !== undefined) throw denial;
}

/** Failure in an audit event. */
interface AuditedFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

interface Acting {
  readonly attributes: Attributes;
  readonly deny: (of: Invocation, failure: Failure) => void;
  readonly audited: AuditedFailure[];
}

/** Acts on a failure as the binding says. */
function act(failure: Failure, invocation: Invocation, { attributes: { request }, deny, audited }: Acting): void {
  const { policy, binding } = invocation;
  const { message, index } = failure;
  for (const action of binding.actions) {
    if (action === "Deny") deny(invocation, failure);
    if (action === "Warn")
      request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
    if (action === "Audit")
      audited.push({
        ...{ message, policy: policy.name, binding: binding.name },
        ...{ expressionIndex: index, validationActions: binding.actions },
      });
  }
}

const NOTHING: Judgement = { failures: [], annotations: [] };

function judge(evaluation: Evaluation, compiled: CompiledPolicy, isIgnored: boolean): Judgement {
  const failed = (message: string): Judgement =>
    isIgnored ? NOTHING : { failures: [{ index: 0, message }], annotations: [] };
  try {
    const hold = policyMatches(evaluation, compiled);
    if (typeof hold === "string") return failed(hold);
    if (!hold) return NOTHING;
    evaluation.allow(BINDING_STEPS);
    const failures = compiled.validations.flatMap((validation, index) => {
      const failure = failureOf(evaluation, validation, isIgnored);
      return failure === undefined ? [] : [{ ...failure, index }];
    });
    evaluation.allow(BINDING_STEPS);
    const annotations = compiled.auditAnnotations.flatMap((one) => annotationOf(evaluation, one, isIgnored) ?? []);
    return { failures, annotations };
  } catch (error) {
    if (error instanceof BudgetError) return failed(error.message);
    throw error;
  }
}

function failureOf(
  evaluation: Evaluation,
  { expression, messageExpression, message, reason = "Invalid" }: CompiledValidation,
  isIgnored: boolean,
): Omit<Failure, "index"> | undefined {
  const outcome = outcomeOf(expression, (one) => evaluation.evaluate(one));
  if ("error" in outcome) return isIgnored ? undefined : { message: outcome.error };
  if (outcome.value === true) return undefined;
  const made = messageExpression && outcomeOf(messageExpression, (one) => evaluation.evaluate(one));
  const text = made !== undefined && "value" in made && typeof made.value === "string" ? made.value.trim() : "";
  const isUsable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= LONGEST_MESSAGE;
  return { message: isUsable ? text : message, reason };
}

function annotationOf(
  evaluation: Evaluation,
  { key, value, source }: CompiledAnnotation,
  isIgnored: boolean,
): Annotation | undefined {
  const outcome = outcomeOf(value, (one) => evaluation.evaluate(one));
  if ("error" in outcome) return isIgnored ? undefined : { key, error: outcome.error };
  if (outcome.value === null) return undefined;
  if (typeof outcome.value !== "string")
    return {
      key,
      error: `valueExpression '${source}' resulted in unsupported return type. Return type must be either string or null.`,
    };
  const text = outcome.value.trim();
  return text === "" ? undefined : { key, value: text.slice(0, LONGEST_ANNOTATION) };
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413 };

function denialOf(
  { policy, binding }: Pick<Misconfiguration, "policy" | "binding">,
  attributes: Attributes,
  { message: why, reason = "Invalid" }: Omit<Failure, "index">,
): ApiError {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const message = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${why}`;
  const { status } = forbidden(attributes, message);
  return new ApiError({
    ...status,
    reason: reason as StatusReason,
    code: CODES[reason] ?? 422,
    details: { ...status.details, causes: [{ message }] },
  });
}

/** Returns Kubernetes' error of a request that admission forbids: an object without a name is named by its prefix. */
export function forbidden({ request, name, object }: Attributes, message: string): ApiError {
  const named = name || object?.metadata.generateName || "Unknown";
  return ApiError.forbidden({ resource: groupResourceOf(request.definition), name: named, message });
}
