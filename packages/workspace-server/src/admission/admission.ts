import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";
import { ADMISSIONREGISTRATION_GROUP } from "../kinds/webhook-configuration.ts";
import type { ShardContext } from "../state/context.ts";
import { Attributes, withoutCluster } from "../webhooks/attributes.ts";
import type { WebhookClient } from "../webhooks/client.ts";
import { type Candidate, candidatesOf } from "../webhooks/match.ts";
import { mayMatch } from "../webhooks/request-match.ts";
import { namespacesOn } from "./namespaces.ts";
import { PolicyRequest, policiesFor } from "./policy-invocations.ts";
import { PolicyMutator } from "./policy-mutator.ts";
import { validateByPolicies } from "./policy-validation.ts";
import { inRounds } from "./reinvocation.ts";
import { type AdmissionSource, AdmissionSources } from "./sources.ts";
import { WebhookCalls } from "./webhook-calls.ts";
import { WebhookMutator } from "./webhook-mutator.ts";

/** Options of {@link configuredAdmission}. */
export interface ConfiguredAdmissionOptions {
  readonly shard: ShardContext;
  readonly client: WebhookClient;
}

/** Admission by webhooks and policies of configurations, one hook for each source of a kind. */
export interface ConfiguredAdmission {
  /** For built-in kinds and CustomResourceDefinitions: the configurations of the request's logical cluster. */
  readonly own: Admit;
  /** For kinds of APIBindings: the configurations of the exporting logical cluster. */
  readonly bound: Admit;
  /** Whether {@link ConfiguredAdmission.bound} may do anything for writes of a kind. Throws as it does. */
  readonly mayJudge: (write: Pick<AdmitRequest, "params" | "definition">) => boolean;
}

/** Groups of reviews, which policies do not judge. */
const REVIEW_GROUPS: readonly string[] = ["authentication.k8s.io", "authorization.k8s.io"];

/**
 * Calls admission webhooks and evaluates admission policies of exactly one logical cluster. As in kcp, webhooks change objects
 * before policies do; policies reject before webhooks do. Configurations themselves are exempt.
 */
export function configuredAdmission({ shard, client }: ConfiguredAdmissionOptions): ConfiguredAdmission {
  const sources = new AdmissionSources(shard);
  const namespaceOf = namespacesOn(shard);
  const calls = new WebhookCalls(client, async (cluster, name) => {
    return (await namespaceOf(cluster, name)).metadata.labels ?? {};
  });
  const context = { shard, calls, namespaceOf };
  return {
    own: (request) => {
      if (request.definition.group === ADMISSIONREGISTRATION_GROUP) return undefined;
      const source = sources.own(request);
      return source && admitted(request, source, context);
    },
    bound: (request) => {
      const source = sources.bound(request);
      return source && admitted(request, source, context);
    },
    mayJudge: (write) => {
      const source = sources.bound(write);
      return source !== undefined && PHASES.some((phase) => isMatched(write.definition, source, phase));
    },
  };
}

const PHASES = ["mutating", "validating"] as const;

function isMatched(
  definition: ResourceDefinition,
  { cluster, shard: { state } }: AdmissionSource,
  phase: (typeof PHASES)[number],
): boolean {
  const policies = state.policies.in(cluster, phase).map(({ match }) => match);
  return [...state.webhooks.in(cluster, phase), ...policies].some(({ rules }) => mayMatch(rules, definition));
}

interface AdmissionContext {
  readonly shard: ShardContext;
  readonly calls: WebhookCalls;
  readonly namespaceOf: ReturnType<typeof namespacesOn>;
}

/** Registers what validates, and runs what mutates. Synchronous without any whose rules match. */
function admitted(
  request: AdmitRequest,
  source: AdmissionSource,
  { shard, calls, namespaceOf }: AdmissionContext,
): Promise<KubeObject | undefined> | undefined {
  const {
    cluster,
    shard: { state },
  } = source;
  const isReview = REVIEW_GROUPS.includes(request.definition.group);
  const policies = (phase: "mutating" | "validating") =>
    isReview ? [] : policiesFor(state.policies.in(cluster, phase), request);
  const policyRequest = (attributes: Attributes): PolicyRequest =>
    new PolicyRequest({ shard, source, attributes, namespaceOf });
  const validating = candidatesOf(state.webhooks.in(cluster, "validating"), request);
  const judging = policies("validating");
  if (validating.length + judging.length > 0)
    request.validate(async (object) => {
      const attributes = new Attributes(request, request.operation === "DELETE" ? undefined : object);
      if (judging.length > 0) await validateByPolicies(judging, policyRequest(attributes));
      if (validating.length > 0) await validateByWebhooks(validating, attributes, calls);
    });
  const mutating = candidatesOf(state.webhooks.in(cluster, "mutating"), request);
  const changing = policies("mutating");
  if (mutating.length + changing.length === 0) return undefined;
  const attributes = new Attributes(request);
  const mutators = [
    new WebhookMutator(mutating, attributes, calls),
    ...(changing.length === 0 ? [] : [new PolicyMutator(changing, policyRequest(attributes))]),
  ];
  return inRounds(mutators).then((isChanged) => {
    if (!isChanged || attributes.object === undefined) return undefined;
    return request.operation === "CREATE" ? withoutCluster(attributes.object) : attributes.object;
  });
}

/** Calls validating webhooks at the same time. @throws ApiError of the first that rejects, in the order of configurations */
async function validateByWebhooks(
  candidates: readonly Candidate[],
  attributes: Attributes,
  calls: WebhookCalls,
): Promise<void> {
  const matched: Candidate[] = [];
  for (const candidate of candidates) if (await calls.matches(candidate, attributes)) matched.push(candidate);
  const results = await Promise.allSettled(
    matched.map((candidate, index) => {
      const failedOpen = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`;
      return calls.ask(candidate, attributes, failedOpen);
    }),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
