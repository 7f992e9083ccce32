import { isDeepStrictEqual } from "node:util";
import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { clusterOf, LogicalCluster, type LogicalClusterOwner, Workspace } from "@virtual-workspaces/kcp";
import {
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  OWNER_ANNOTATION,
  PATH_ANNOTATION,
  REQUIRED_GROUPS_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { type Draft, ensure, modify } from "../../state/modify.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { parseOwner } from "../model/owner.ts";
import { begun, madeFor } from "../model/phases.ts";
import { initializersOf, joined, terminatorsOf, WorkspaceTypes } from "../model/workspace-types.ts";

/** Where the logical cluster of a workspace is made. */
export interface NewLogicalCluster {
  readonly shard: ShardPeer;
  readonly registry: ShardRegistry;
  readonly cluster: string;
  /** The canonical path, for good. */
  readonly path: string;
}

/**
 * Makes the logical cluster of a workspace, if it is not there, and has it begin to be set up if the workspace is there still.
 *
 * @returns false when the name is taken by the logical cluster of another
 * @throws TypeProblem when the type is gone
 */
export async function makeLogicalCluster(workspace: Workspace, place: NewLogicalCluster): Promise<boolean> {
  const { shard, registry, cluster } = place;
  const collection = shard.objects.of(LogicalCluster);
  const key = logicalClusterKey(cluster);
  const { object } = await ensure(collection, key, () => contentOf(workspace, place));
  if (!isOwnedBy(object, workspace)) return false;
  if ((await madeFor(object, registry)) === "there") await modify(collection, key, begun);
  return true;
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
        ...(owner && { [OWNER_ANNOTATION]: owner }),
        ...(groups !== undefined && { [REQUIRED_GROUPS_ANNOTATION]: groups }),
      },
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
