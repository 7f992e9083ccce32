import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { combined } from "../controllers/shard-controllers.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { type DeletionOptions, deletionController } from "./logical-cluster/deletion-controller.ts";
import { logicalClusterController } from "./logical-cluster/logical-cluster-controller.ts";
import { ownerBindingController, type RoleBindings } from "./logical-cluster/owner-binding.ts";
import { universalInitializer } from "./logical-cluster/universal-initializer.ts";
import { partitionSetController } from "./topology/partition-sets.ts";
import { workspaceTypeController } from "./topology/workspace-type-urls.ts";
import { type WorkspaceOptions, workspaceController } from "./workspace/workspace-controller.ts";

/** What the life of workspaces needs of the rest of a server. */
export interface WorkspaceControllersOptions extends DeletionOptions, WorkspaceOptions {
  /** The kind Namespace. */
  readonly namespaces: ResourceDefinition;
  readonly roleBindings: RoleBindings;
  readonly now?: () => Date;
}

/**
 * All that keeps the workspaces of a shard alive. The initializer `system:apibindings` and what becomes of bindings later are
 * other parts: here such workspaces wait for them.
 */
export function workspaceControllers(shard: ShardContext, options: WorkspaceControllersOptions): ShardController {
  const { namespaces, roleBindings, now } = options;
  return combined([
    workspaceController(shard, options),
    logicalClusterController(shard, now),
    deletionController(shard, options),
    ownerBindingController(shard, roleBindings),
    universalInitializer(shard, namespaces),
    partitionSetController(shard, now),
    workspaceTypeController(shard, now),
  ]);
}
