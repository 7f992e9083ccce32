import type { ResourceDefinition, TypedDefinition } from "@virtual-workspaces/framework";
import { API_BINDINGS_INITIALIZER, LogicalCluster } from "@virtual-workspaces/kcp";
import { startController } from "../../controllers/shard-controllers.ts";
import { filterStates } from "../../controllers/sources.ts";
import { newNamespace } from "../../kinds/namespace.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { ensureNew, modify } from "../../state/modify.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { nextState } from "../model/next-state.ts";
import { phaseOf } from "../model/phases.ts";
import { UNIVERSAL_INITIALIZER } from "../model/workspace-types.ts";

/** Written content of a Namespace. */
interface NamespaceContent {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

const NAMESPACES = ["default", "kube-system"] as const;
/** A restart does not revert changes of these objects. */
const CREATED_ONLY = { "bootstrap.kcp.io/create-only": "true" };

/**
 * Age of a logical cluster up to which this initializer leaves its end to that of the default bindings, which then writes
 * both: in milliseconds. Most need a hundredth of it.
 */
const TOGETHER_WITHIN = 5_000;

/** Whether the common content of a workspace exists, so that {@link universalInitializer} has nothing left to create. */
export function hasUniversalContent(state: Pick<ShardState, "namespaces">, cluster: string): boolean {
  return missingIn(state, cluster).length === 0;
}

function missingIn({ namespaces }: Pick<ShardState, "namespaces">, cluster: string): readonly string[] {
  return NAMESPACES.filter((name) => !namespaces.store.has({ cluster, namespace: "", name }));
}

/** Initializes the common content of workspaces: their first namespaces (kcp's controller of `root:universal`). */
export function universalInitializer(
  shard: ShardContext,
  namespaces: ResourceDefinition,
  now: () => Date = () => new Date(),
): ShardController {
  const collection = shard.objects.of(LogicalCluster);
  const made = shard.objects.of(namespaces as TypedDefinition<NamespaceContent>);
  return startController<LogicalCluster>(shard, {
    name: "kcp-workspacetypes-bootstrap-universal",
    workers: 4,
    sources: [{ informer: filterStates(shard.state.logicalClusters, waits) }],
    reconcile: async (key, { object }) => {
      if (object === undefined || !waits(object)) return {};
      const { cluster } = key;
      // At once, so that the store commits them together.
      await Promise.all(
        missingIn(shard.state, cluster).map((name) =>
          ensureNew(made, { cluster, namespace: "", name }, () => newNamespace(name, CREATED_ONLY)),
        ),
      );
      const left = remaining(object, now());
      if (left > 0 && shard.services?.initializing !== "elsewhere") return { requeueAfter: left };
      // With all that follows, which would be a write of its own for each workspace.
      const facts = { cluster: key.cluster, externalURL: shard.urls.externalURL, now: now() };
      await modify(collection, key, (cluster) => (waits(cluster) ? nextState(without(cluster), facts) : undefined));
      return {};
    },
  });
}

function waits(cluster: LogicalCluster): boolean {
  const { metadata, status } = cluster;
  if (metadata.deletionTimestamp !== undefined || phaseOf(cluster) !== "Initializing") return false;
  return status?.initializers?.includes(UNIVERSAL_INITIALIZER) === true;
}

/** Returns for how long the default bindings may still end this initializer, in milliseconds. */
function remaining({ metadata, status }: LogicalCluster, now: Date): number {
  if (status?.initializers?.includes(API_BINDINGS_INITIALIZER) !== true) return 0;
  return Date.parse(metadata.creationTimestamp ?? "") + TOGETHER_WITHIN - now.getTime() || 0;
}

function without(cluster: LogicalCluster): LogicalCluster {
  const { initializers = [], ...status } = cluster.status ?? {};
  const left = initializers.filter((each) => each !== UNIVERSAL_INITIALIZER);
  return { ...cluster, status: { ...status, ...(left.length > 0 && { initializers: left }) } };
}
