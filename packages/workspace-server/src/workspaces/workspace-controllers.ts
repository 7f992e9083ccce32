import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { combined } from "../controllers/shard-controllers.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { type DeletionOptions, deletionController } from "./logical-cluster/deletion-controller.ts";
import { type LogicalClusterOptions, logicalClusterController } from "./logical-cluster/logical-cluster-controller.ts";
import { ownerBindingController, type RoleBindings } from "./logical-cluster/owner-binding.ts";
import { universalInitializer } from "./logical-cluster/universal-initializer.ts";
import { partitionSetController } from "./topology/partition-sets.ts";
import { workspaceTypeController } from "./topology/workspace-type-urls.ts";
import { type WorkspaceOptions, workspaceController } from "./workspace/workspace-controller.ts";

/** Options of the controllers of workspaces. */
export interface WorkspaceControllersOptions
  extends DeletionOptions,
    WorkspaceOptions,
    Pick<LogicalClusterOptions, "prepared"> {
  /** Kind Namespace. */
  readonly namespaces: ResourceDefinition;
  readonly roleBindings: RoleBindings;
  readonly now?: () => Date;
}

/**
 * Returns all controllers of a shard's workspaces, except those of bindings and the initializer `system:apibindings`, for
 * which such workspaces wait.
 */
export function workspaceControllers(shard: ShardContext, options: WorkspaceControllersOptions): ShardController {
  const { namespaces, roleBindings, now, prepared } = options;
  return combined([
    workspaceController(shard, options),
    logicalClusterController(shard, { now, prepared }),
    deletionController(shard, options),
    ownerBindingController(shard, roleBindings),
    universalInitializer(shard, namespaces, now),
    partitionSetController(shard, now),
    workspaceTypeController(shard, now),
  ]);
}
