import { isApiError } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { ROOT_CLUSTER, type Shard, type Workspace } from "@virtual-workspaces/kcp";
import { UNSCHEDULABLE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ShardRegistry } from "../../state/shard-registry.ts";

/** All Shard objects: they are in `root`, on the shard that has it. */
export function allShards({ shards }: Pick<ShardRegistry, "shards">): Shard[] {
  return shards.flatMap(({ state }) => state.shards.store.list(ROOT_CLUSTER));
}

/** Whether it is known which Shards there are: before the shard that has `root` is there, none that is missing is gone. */
export async function areShardsKnown(registry: Pick<ShardRegistry, "shardWith">): Promise<boolean> {
  const root = registry.shardWith(ROOT_CLUSTER);
  await root?.state.shards.synced;
  return root !== undefined;
}

/** The Shard of a name. */
export function shardOf({ shards }: Pick<ShardRegistry, "shards">, name: string): Shard | undefined {
  const key = { cluster: ROOT_CLUSTER, namespace: "", name };
  for (const { state } of shards) {
    const shard = state.shards.store.get(key);
    if (shard !== undefined) return shard;
  }
  return undefined;
}

/** Which shard a workspace is put on, or why on none. */
export type Choice = { readonly shard: Shard } | { readonly reason: string };

/**
 * One of the shards that a workspace may be on: with the labels that it asks for, not marked as unschedulable, not
 * about to go, and running here.
 *
 * @param pick one of 0 to below `count`
 */
export function chooseShard({ spec }: Workspace, registry: ShardRegistry, pick: (count: number) => number): Choice {
  let matches: (labels: Readonly<Record<string, string>> | undefined) => boolean;
  try {
    const selector = labelSelectorFromObject((spec.location?.selector ?? {}) as LabelSelectorObject);
    matches = (labels) => selector.matches(labels);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { reason: `spec.location.selector is invalid: ${error.message}` };
  }
  const fitting = allShards(registry).filter(
    ({ metadata }) =>
      metadata.annotations?.[UNSCHEDULABLE_ANNOTATION] === undefined &&
      metadata.deletionTimestamp === undefined &&
      matches(metadata.labels) &&
      registry.shard(metadata.name ?? "") !== undefined,
  );
  const shard = fitting[pick(fitting.length)];
  return shard === undefined ? { reason: "No available shards to schedule the workspace" } : { shard };
}
