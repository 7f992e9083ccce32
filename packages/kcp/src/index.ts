/**
 * What is kcp's own: its kinds, and what its controllers and clients agree on. Pure: values and functions of values.
 *
 * @module
 */

// Conditions
export {
  type Condition,
  type ConditionSeverity,
  type ConditionState,
  type FalseCondition,
  READY_CONDITION,
  type UnknownCondition,
} from "./conditions/condition.ts";
export { getCondition, isConditionFalse, isConditionTrue, isConditionUnknown } from "./conditions/get.ts";
export { deleteCondition, markFalse, markTrue, markUnknown, setCondition } from "./conditions/set.ts";
export { type SummaryOptions, setSummary } from "./conditions/summary.ts";
// Kinds of core.kcp.io
export type { ObjectsOf } from "./core/kind.ts";
export {
  LogicalCluster,
  type LogicalClusterOwner,
  type LogicalClusterPhase,
  type LogicalClusterSpec,
  type LogicalClusterStatus,
} from "./core/logical-cluster.ts";
export { Shard, type ShardSpec, type ShardStatus } from "./core/shard.ts";
// Kinds of tenancy.kcp.io
export {
  Workspace,
  type WorkspaceMount,
  type WorkspaceSpec,
  type WorkspaceStatus,
  type WorkspaceTypeReference,
} from "./tenancy/workspace.ts";
export {
  WorkspaceAuthenticationConfiguration,
  type WorkspaceAuthenticationConfigurationSpec,
} from "./tenancy/workspace-authentication-configuration.ts";
export {
  WorkspaceType,
  type WorkspaceTypeSelector,
  type WorkspaceTypeSpec,
  type WorkspaceTypeStatus,
} from "./tenancy/workspace-type.ts";
// Kinds of topology.kcp.io
export { Partition, type PartitionSpec } from "./topology/partition.ts";
export { PartitionSet, type PartitionSetSpec, type PartitionSetStatus } from "./topology/partition-set.ts";
