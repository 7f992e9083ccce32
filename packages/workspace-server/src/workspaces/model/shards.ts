import { isApiError } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { ROOT_CLUSTER, type Shard, type Workspace } from "@virtual-workspaces/kcp";
import { UNSCHEDULABLE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ShardRegistry } from "../../state/shard-registry.ts";

/** Returns all Shard objects, which are in `root`. */
export function allShards({ shards }: Pick<ShardRegistry, "shards">): Shard[] {
  return shards.flatMap(({ state }) => state.shards.store.list(ROOT_CLUSTER));
}

/** Whether the Shard objects are known: before the shard with `root` joins, a missing Shard may exist. */
export async function areShardsKnown(registry: Pick<ShardRegistry, "shardWith">): Promise<boolean> {
  const root = registry.shardWith(ROOT_CLUSTER);
  await root?.state.shards.synced;
  return root !== undefined;
}

/** Returns the Shard of a name. */
export function shardOf({ shards }: Pick<ShardRegistry, "shards">, name: string): Shard | undefined {
  const key = { cluster: ROOT_CLUSTER, namespace: "", name };
  for (const { state } of shards) {
    const shard = state.shards.store.get(key);
    if (shard !== undefined) return shard;
  }
  return undefined;
}

/** Shard chosen for a workspace, or the reason for none. */
export type Choice = { readonly shard: Shard } | { readonly reason: string };

/**
 * Chooses a shard for a workspace among those that match its selector, are schedulable, are not under deletion and run here.
 *
 * @param pick returns an integer from 0 to below `count`
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
