import { isDeepStrictEqual } from "node:util";
import {
  apiVersionOf,
  isApiError,
  type LabelSelectorObject,
  labelSelectorFromObject,
  type ObjectKey,
} from "@virtual-workspaces/apimachinery";
import { related } from "@virtual-workspaces/client";
import {
  type Condition,
  clusterOf,
  type FalseCondition,
  markFalse,
  markTrue,
  Partition,
  PartitionSet,
  type Shard,
} from "@virtual-workspaces/kcp";
import type { ShardContext, ShardPart } from "../../state/context.ts";
import { remove } from "../../state/modify.ts";
import { AcrossShards, heeding } from "../../controllers/across-shards.ts";
import { commit, part } from "../../controllers/shard-controllers.ts";
import { allShards } from "../model/shards.ts";
import { type Combination, divide, textOf } from "./divide.ts";
import { makePartition } from "./make-partition.ts";

/** Divides shards into Partitions as PartitionSets say (kcp's controller `kcp-partitionset`). */
export function partitionSetController(shard: ShardContext, now: () => Date = () => new Date()): ShardPart {
  const { state, objects, installation } = shard;
  const sets = state.partitionSets.store;
  const shards = new AcrossShards<Shard>(installation, (each) => each.state.shards);
  const relabelled = heeding(shards, (is, was) => !isDeepStrictEqual(is.metadata.labels, was.metadata.labels));
  return part<PartitionSet>(shard, {
    name: "kcp-partitionset",
    sources: [
      { informer: state.partitionSets },
      related(relabelled, () => sets.list().map(keyOf)),
      related<Partition>(state.partitions, ({ metadata }, { cluster }) =>
        (metadata.ownerReferences ?? [])
          .filter(({ kind }) => kind === PartitionSet.kind)
          .map(({ name }): ObjectKey => ({ cluster, namespace: "", name })),
      ),
    ],
    reconcile: async (key, { object: before }) => {
      if (before === undefined || before.metadata.deletionTimestamp !== undefined) return;
      const { count: counted, ...others } = before.status ?? {};
      const { error, conditions, count = counted } = await divided(before, shard, now());
      // None is not told.
      const next = { ...before, status: { ...others, conditions, ...(count ? { count } : {}) } };
      await commit(objects.of(PartitionSet), key, { before, next });
      if (error !== undefined) throw error;
    },
  });
}

interface Divided {
  readonly count?: number;
  readonly conditions: Condition[];
  /** Tried again. */
  readonly error?: unknown;
}

async function divided(set: PartitionSet, shard: ShardContext, now: Date): Promise<Divided> {
  const before = set.status?.conditions;
  let shards: readonly Shard[];
  try {
    const selector = labelSelectorFromObject((set.spec.shardSelector ?? {}) as LabelSelectorObject);
    shards = allShards(shard.installation).filter(({ metadata }) => selector.matches(metadata.labels));
  } catch (error) {
    if (!isApiError(error)) throw error;
    const invalid = { type: "PartitionSetValid", reason: "InvalidSelector", severity: "Error" } as const;
    const conditions = markFalse(before, { ...invalid, message: error.message }, now);
    return { conditions: markFalse(conditions, notReady(""), now) };
  }
  const conditions = markTrue(before, "PartitionSetValid", now);
  const combinations = divide(set, shards);
  const count = combinations.length;
  const owned = shard.state.partitions.store.list(keyOf(set).cluster).filter((each) => isOwned(each, set));
  const partitions = shard.objects.of(Partition);
  let failing = "old partition could not get deleted";
  try {
    for (const each of owned.filter((partition) => !combinations.some((wanted) => fits(partition, set, wanted))))
      await remove(partitions, keyOf(each), each.metadata.uid);
    failing = "partition could not get created";
    for (const wanted of combinations.filter((each) => !owned.some((partition) => fits(partition, set, each))))
      await makePartition(partitions, set, wanted);
  } catch (error) {
    return { count, conditions: markFalse(conditions, notReady(failing), now), error };
  }
  return { count, conditions: markTrue(conditions, "PartitionsReady", now) };
}

function notReady(message: string): FalseCondition {
  return { type: "PartitionsReady", reason: "ErrorGeneratingPartitions", severity: "Error", message };
}

function isOwned({ metadata }: Partition, set: PartitionSet): boolean {
  const apiVersion = apiVersionOf(PartitionSet);
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.uid === set.metadata.uid && owner.kind === PartitionSet.kind && owner.apiVersion === apiVersion,
  );
}

function fits({ spec }: Partition, set: PartitionSet, wanted: Combination): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec.selector ?? {};
  const expressions = set.spec.shardSelector?.matchExpressions ?? [];
  return textOf(matchLabels) === textOf(wanted) && isDeepStrictEqual(matchExpressions, expressions);
}

function keyOf(object: PartitionSet | Partition): ObjectKey {
  return { cluster: clusterOf(object), namespace: "", name: object.metadata.name ?? "" };
}
