import type { AdmitRequest } from "@virtual-workspaces/framework";
import type { ShardContext } from "../state/context.ts";
import { inProcessPeer } from "../state/in-process-peer.ts";
import type { ShardPeer } from "../state/shard-peer.ts";
import { notRunning } from "../state/unavailable.ts";

/** Logical cluster whose configurations count for a request, and its shard. */
export interface AdmissionSource {
  readonly cluster: string;
  readonly shard: Pick<ShardPeer, "paramKind" | "params"> & {
    readonly state: Pick<ShardPeer["state"], "policies" | "webhooks">;
  };
}

/**
 * Finds the configurations for requests. As in kcp, those of exactly one logical cluster count: of the exporter for a bound
 * resource, else of the request's.
 */
export class AdmissionSources {
  readonly #context: ShardContext;
  readonly #own: ShardPeer;

  constructor(context: ShardContext) {
    this.#context = context;
    this.#own = inProcessPeer(context);
  }

  /** Returns the source for built-in kinds and CustomResourceDefinitions; `undefined` if no logical cluster has configurations. */
  own({ params }: AdmitRequest): AdmissionSource | undefined {
    return isEmpty(this.#own) ? undefined : { cluster: params["cluster"] ?? "", shard: this.#own };
  }

  /**
   * Returns the source for a bound resource.
   *
   * @throws ApiError 503 while the exporter's shard does not run: its configurations are unknown
   */
  bound(request: Pick<AdmitRequest, "params" | "definition">): AdmissionSource | undefined {
    const { state, registry } = this.#context;
    const isNone = isEmpty(this.#own) && registry.shards.every(isEmpty);
    if (isNone && registry.missing.length === 0) return undefined;
    const { cluster = "" } = request.params;
    const { group, plural } = request.definition;
    const binding = state.apiBindings.store
      .list(cluster)
      .find(({ status }) => status?.boundResources?.some((one) => one.group === group && one.resource === plural));
    const exporter = binding?.status?.apiExportClusterName ?? cluster;
    if (exporter === cluster) return { cluster, shard: this.#own };
    const other = registry.shardWith(exporter);
    if (other !== undefined) return { cluster: exporter, shard: other };
    if (registry.missing.length > 0) throw notRunning();
    return undefined;
  }
}

function isEmpty({ state: { policies, webhooks } }: AdmissionSource["shard"]): boolean {
  return policies.isEmpty && webhooks.isEmpty;
}
