import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { Namespace } from "../kinds/namespace.ts";
import { ADMISSIONREGISTRATION_GROUP } from "../kinds/webhook-configuration.ts";
import type { ShardContext } from "../state/context.ts";
import { findNamespace } from "../state/namespace-lookup.ts";
import { notRunning } from "../state/unavailable.ts";
import { Attributes } from "../webhooks/attributes.ts";
import type { WebhookClient } from "../webhooks/client.ts";
import { type Candidate, candidatesOf } from "../webhooks/match.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { mutated } from "./mutation.ts";
import { WebhookCalls } from "./webhook-calls.ts";

/** Options of {@link webhookAdmission}. */
export interface WebhookAdmissionOptions {
  readonly shard: Pick<ShardContext, "name" | "state" | "registry" | "objects">;
  readonly client: WebhookClient;
}

/** Admission by webhooks of configurations, one hook for each source of a kind. */
export interface WebhookAdmission {
  /** For built-in kinds and CustomResourceDefinitions: the webhooks of the request's logical cluster. */
  readonly own: Admit;
  /** For kinds of APIBindings: the webhooks of the exporting logical cluster. */
  readonly bound: Admit;
}

/** Webhooks of one logical cluster. */
interface Sources {
  readonly mutating: readonly Webhook[];
  readonly validating: readonly Webhook[];
}

/**
 * Calls admission webhooks (kcp's `apis.kcp.io/MutatingWebhook` and `ValidatingWebhook`). As in kcp, the configurations of
 * exactly one logical cluster count: of the exporter for a bound resource, else of the request's. Configurations themselves
 * are exempt.
 */
export function webhookAdmission({ shard, client }: WebhookAdmissionOptions): WebhookAdmission {
  const labelsOf = async (cluster: string, name: string): Promise<Readonly<Record<string, string>>> => {
    const found = await findNamespace(cluster, name, shard);
    if (found === undefined) throw ApiError.notFound(groupResourceOf(Namespace), name);
    return found.metadata.labels ?? {};
  };
  const calls = new WebhookCalls(client, labelsOf);
  const hook =
    (sourcesOf: (request: AdmitRequest) => Sources | undefined): Admit =>
    (request) => {
      const sources = sourcesOf(request);
      return sources && admitted(request, sources, calls);
    };
  return {
    own: hook((request) => {
      if (shard.state.webhooks.isEmpty || request.definition.group === ADMISSIONREGISTRATION_GROUP) return undefined;
      return sourcesIn(shard, request.params["cluster"] ?? "");
    }),
    bound: hook((request) => {
      if (shard.state.webhooks.isEmpty && shard.registry.shards.every(({ state }) => state.webhooks.isEmpty))
        return shard.registry.missing.length === 0 ? undefined : sourcesOfExporter(shard, request);
      return sourcesOfExporter(shard, request);
    }),
  };
}

type Sourced = WebhookAdmissionOptions["shard"];

function sourcesIn(
  { state }: Pick<Sourced, "state"> | { readonly state: Pick<Sourced["state"], "webhooks"> },
  cluster: string,
): Sources | undefined {
  const [mutating, validating] = [state.webhooks.in(cluster, "mutating"), state.webhooks.in(cluster, "validating")];
  return mutating.length + validating.length === 0 ? undefined : { mutating, validating };
}

/** @throws ApiError 503 while the exporter's shard does not run: its webhooks are unknown */
function sourcesOfExporter(shard: Sourced, { definition, params }: AdmitRequest): Sources | undefined {
  const { cluster = "" } = params;
  const { group, plural } = definition;
  const binding = shard.state.apiBindings.store
    .list(cluster)
    .find(({ status }) => status?.boundResources?.some((one) => one.group === group && one.resource === plural));
  const exporter = binding?.status?.apiExportClusterName ?? cluster;
  if (exporter === cluster) return sourcesIn(shard, cluster);
  const other = shard.registry.shardWith(exporter);
  if (other !== undefined) return sourcesIn(other, exporter);
  if (shard.registry.missing.length > 0) throw notRunning();
  return undefined;
}

/** Registers the validating webhooks, and calls the mutating ones. Synchronous without any whose rules match. */
function admitted(
  request: AdmitRequest,
  sources: Sources,
  calls: WebhookCalls,
): Promise<KubeObject | undefined> | undefined {
  const mutating = candidatesOf(sources.mutating, request);
  const validating = candidatesOf(sources.validating, request);
  if (validating.length > 0)
    request.validate((object) => {
      const isGone = request.operation === "DELETE";
      return validated(validating, new Attributes(request, isGone ? undefined : object), calls);
    });
  return mutating.length === 0 ? undefined : mutated(mutating, new Attributes(request), calls);
}

/** Calls validating webhooks at the same time. @throws ApiError of the first that rejects, in the order of configurations */
async function validated(candidates: readonly Candidate[], attributes: Attributes, calls: WebhookCalls): Promise<void> {
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
