import { isDeepStrictEqual } from "node:util";
import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { clusterOf, LogicalCluster, type LogicalClusterOwner, Workspace } from "@virtual-workspaces/kcp";
import {
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  OWNER_ANNOTATION,
  PATH_ANNOTATION,
  PHASE_LABEL,
  REQUIRED_GROUPS_ANNOTATION,
  RESOURCE_BINDINGS_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { type Draft, ensureNew } from "../../state/modify.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { parseOwner } from "../model/owner.ts";
import { isNew } from "../model/phases.ts";
import { initializersOf, joined, terminatorsOf, WorkspaceTypes } from "../model/workspace-types.ts";

/** Where the logical cluster of a workspace is made. */
export interface NewLogicalCluster {
  readonly shard: ShardPeer;
  readonly registry: ShardRegistry;
  readonly cluster: string;
  /** The canonical path, for good. */
  readonly path: string;
}

/** Outcome of {@link makeLogicalCluster}: whether the name belongs to another, or the initialization has begun. */
type Made = "taken" | "new" | "begun";

/**
 * Makes the logical cluster of a workspace, if it is not there. The controller of logical clusters begins its initialization.
 *
 * @throws TypeProblem when the type is gone
 */
export async function makeLogicalCluster(workspace: Workspace, place: NewLogicalCluster): Promise<Made> {
  const { shard, cluster } = place;
  const there = shard.state.logicalCluster(cluster);
  const made =
    there ??
    (await ensureNew(shard.objects.of(LogicalCluster), logicalClusterKey(cluster), () => contentOf(workspace, place)))
      .object;
  if (!isOwnedBy(made, workspace)) return "taken";
  return isNew(made) ? "new" : "begun";
}

/** Whether a logical cluster was made for a workspace, and not for another that had its name. */
export function isOwnedBy({ spec }: LogicalCluster, workspace: Workspace): boolean {
  return isDeepStrictEqual(spec.owner, ownerOf(workspace));
}

function ownerOf(workspace: Workspace): LogicalClusterOwner {
  const { name = "", uid = "" } = workspace.metadata;
  return { apiVersion: apiVersionOf(Workspace), resource: Workspace.plural, name, cluster: clusterOf(workspace), uid };
}

function contentOf(
  workspace: Workspace,
  { shard, registry, path }: NewLogicalCluster,
): Draft<Pick<LogicalCluster, "spec" | "status">> {
  const { annotations = {} } = workspace.metadata;
  const { type = { name: "" } } = workspace.spec;
  const types = new WorkspaceTypes(registry);
  const name = joined(type.path ?? "", type.name);
  const aliases = types.aliases(types.get(name));
  const initializers = initializersOf(aliases);
  const terminators = terminatorsOf(aliases);
  const owner = annotations[OWNER_ANNOTATION];
  const createdBy = parseOwner(owner);
  const groups = annotations[REQUIRED_GROUPS_ANNOTATION];
  return {
    metadata: {
      annotations: {
        [WORKSPACE_TYPE_ANNOTATION]: name,
        [LOGICAL_CLUSTER_SHARD_ANNOTATION]: shard.name,
        [PATH_ANNOTATION]: path,
        // No resource is bound yet.
        [RESOURCE_BINDINGS_ANNOTATION]: "{}",
        ...(owner && { [OWNER_ANNOTATION]: owner }),
        ...(groups !== undefined && { [REQUIRED_GROUPS_ANNOTATION]: groups }),
      },
      labels: { [PHASE_LABEL]: "Scheduling" },
      finalizers: [LOGICAL_CLUSTER_DELETION_FINALIZER],
    },
    spec: {
      directlyDeletable: false,
      owner: ownerOf(workspace),
      ...(createdBy !== undefined && { createdBy }),
      ...(initializers.length > 0 && { initializers }),
      ...(terminators.length > 0 && { terminators }),
    },
    status: { phase: "Scheduling" },
  };
}
