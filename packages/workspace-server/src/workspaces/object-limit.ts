import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Admit, type AdmitRequest, groupResourceOf } from "@virtual-workspaces/framework";
import { type LogicalCluster, MAX_TOTAL_OBJECTS_ANNOTATION, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { ObjectCounts } from "./object-counts.ts";
import type { ShardState } from "../state/shard-state.ts";

/** What is made whatever the limit: workspaces are set up by it, and events tell why nothing else is. */
const EXEMPT: ReadonlySet<string> = new Set(["logicalclusters.core.kcp.io", "events.", "events.events.k8s.io"]);

/** What the limit is looked up in. */
export interface ObjectLimitOptions {
  readonly counts: ObjectCounts;
  readonly state: Pick<ShardState, "logicalCluster">;
  /** Of logical clusters that say nothing else, but `root` and those of the system; 0: none. */
  readonly byDefault: number;
}

/**
 * Admission of new objects up to a number for each logical cluster, of whichever kind (kcp's
 * `core.kcp.io/LogicalClusterObjectCountLimit`): the annotation `core.kcp.io/max-total-objects` of the LogicalCluster, or
 * the default. Not before it is Ready, and not while objects are still being counted.
 *
 * Its refusal is a 403 that says how many there are and may be.
 */
export function objectLimit(options: ObjectLimitOptions): Admit {
  return (request) => {
    const { operation, subresource, definition, params } = request;
    if (operation !== "CREATE" || subresource !== "" || EXEMPT.has(`${definition.plural}.${definition.group}`)) return;
    const cluster = params["cluster"] ?? "";
    const limit = limitOf(options.state.logicalCluster(cluster), { ...options, cluster });
    if (limit > 0) admitOne(request, { ...options, cluster, limit });
  };
}

interface Limited extends Pick<ObjectLimitOptions, "counts"> {
  readonly cluster: string;
  readonly limit: number;
}

function admitOne({ definition, object, dryRun }: AdmitRequest, { counts, cluster, limit }: Limited): void {
  const { namespace = "", name = "" } = object?.metadata ?? {};
  if (definition.plural === "clusterrolebindings" && name === "workspace-admin") return;
  const count = counts.in(cluster);
  if (count !== undefined && count >= limit)
    throw ApiError.forbidden({
      resource: groupResourceOf(definition),
      name,
      message: `logical cluster ${JSON.stringify(cluster)} has reached its total object count limit (${count}/${limit} objects); delete objects to free up capacity`,
    });
  if (!dryRun) counts.expect({ cluster, namespace, name });
}

function limitOf(
  found: LogicalCluster | undefined,
  { byDefault, cluster }: Pick<ObjectLimitOptions, "byDefault"> & Pick<Limited, "cluster">,
): number {
  if (found?.status?.phase !== "Ready") return 0;
  const said = found.metadata.annotations?.[MAX_TOTAL_OBJECTS_ANNOTATION];
  if (said !== undefined && /^[+-]?\d{1,15}$/.test(said)) return Number(said);
  return cluster === ROOT_CLUSTER || cluster.startsWith("system:") ? 0 : byDefault;
}
