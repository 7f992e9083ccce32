import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { LogicalCluster } from "@virtual-workspaces/kcp";
import { REQUIRED_GROUPS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { AuthorizerState, LogicalClusterState } from "../authz/authorizer-state.ts";
import type { ShardContext } from "./context.ts";

/** Returns the state for a shard's authorizer: its own roles, and the phases of all shards' logical clusters. */
export function authorizerState(
  { name, state, registry }: Pick<ShardContext, "name" | "state" | "registry">,
  binding: AuthorizerState["binding"],
): AuthorizerState {
  const { policies } = state.rbac;
  // Loads bindings with their logical cluster, then the exporter's, whose policy counts as well.
  const load = async (cluster: string, group: string, resource: string): Promise<void> => {
    await registry.load(cluster);
    const exported = binding(cluster, group, resource)?.export;
    if (exported !== undefined) await registry.load(exported.cluster);
  };
  return {
    load: (cluster, group, resource) =>
      registry.isWhole || cluster === WILDCARD || cluster === "" ? undefined : load(cluster, group, resource),
    bootstrap: policies.bootstrap,
    policy: (cluster) => policies.of(cluster),
    replicated: (cluster) => {
      const other = registry.shardWith(cluster);
      return other === undefined || other.name === name ? undefined : other.state.rbac.policies.of(cluster);
    },
    logicalCluster: (cluster) => stateOf(state.logicalCluster(cluster) ?? registry.logicalCluster(cluster)),
    binding,
  };
}

function stateOf(cluster: LogicalCluster | undefined): LogicalClusterState | undefined {
  if (cluster === undefined) return undefined;
  const requiredGroups = cluster.metadata.annotations?.[REQUIRED_GROUPS_ANNOTATION];
  return { phase: cluster.status?.phase ?? "", ...(requiredGroups !== undefined && { requiredGroups }) };
}
