import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { related } from "@virtual-workspaces/client";
import { clusterOf, Partition, PartitionSet, type PartitionSpec, type Shard } from "@virtual-workspaces/kcp";
import { type Condition, type FalseCondition, markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import { base36 } from "@virtual-workspaces/kcp/names";
import { commit, startController } from "../../controllers/shard-controllers.ts";
import { AllShardsSource, filterUpdates } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { type Draft, ensure, remove, type Writable } from "../../state/modify.ts";
import { allShards } from "../model/shards.ts";

/** Divides shards into Partitions by PartitionSets (kcp's controller `kcp-partitionset`). */
export function partitionSetController(shard: ShardContext, now: () => Date = () => new Date()): ShardController {
  const { state, objects, registry } = shard;
  const sets = state.partitionSets.store;
  const shards = new AllShardsSource<Shard>(registry, (each) => each.state.shards);
  const relabelled = filterUpdates(shards, (is, was) => !isDeepStrictEqual(is.metadata.labels, was.metadata.labels));
  return startController<PartitionSet>(shard, {
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
      // 0 is omitted.
      const next = { ...before, status: { ...others, conditions, ...(count ? { count } : {}) } };
      await commit(objects.of(PartitionSet), key, { before, next });
      if (error !== undefined) throw error;
    },
  });
}

interface Divided {
  readonly count?: number;
  readonly conditions: Condition[];
  /** Causes a retry. */
  readonly error?: unknown;
}

async function divided(set: PartitionSet, shard: ShardContext, now: Date): Promise<Divided> {
  const before = set.status?.conditions;
  let shards: readonly Shard[];
  try {
    const selector = labelSelectorFromObject((set.spec.shardSelector ?? {}) as LabelSelectorObject);
    shards = allShards(shard.registry).filter(({ metadata }) => selector.matches(metadata.labels));
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

/** Label values by which shards are divided. */
export type Combination = Readonly<Record<string, string>>;

/** Returns each combination with at least one shard; a shard without one of the labels has none. */
function divide({ spec }: PartitionSet, shards: readonly Shard[]): Combination[] {
  const keys = new Set([...(spec.dimensions ?? []), ...Object.keys(spec.shardSelector?.matchLabels ?? {})]);
  const found = new Map<string, Combination>();
  for (const { metadata } of shards) {
    const combination = combinationOf(metadata.labels ?? {}, [...keys].sort());
    if (combination !== undefined && keys.size > 0) found.set(textOf(combination), combination);
  }
  return [...found.values()];
}

function combinationOf(labels: Readonly<Record<string, string>>, keys: readonly string[]): Combination | undefined {
  const combination: Record<string, string> = {};
  for (const key of keys) {
    const value = labels[key];
    if (value === undefined) return undefined;
    combination[key] = value;
  }
  return combination;
}

/** Returns the same text for equal combinations. */
function textOf(combination: Combination): string {
  return JSON.stringify(Object.entries(combination).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Kubernetes cuts prefixes of generated names to this length (`names.SimpleNameGenerator`). */
const LONGEST_PREFIX = 58;
const SUFFIX_LENGTH = 5;

/**
 * Returns the name of a combination's Partition: it looks generated, but is stable, so that a retry finds it.
 * @param attempt gives other names in case one is taken
 */
function partitionName({ metadata, spec }: PartitionSet, combination: Combination, attempt: number): string {
  const dimensions = [...new Set(spec.dimensions ?? [])].sort();
  const values = dimensions.map((label) => (combination[label] ?? "").toLowerCase());
  const suffix = base36(
    createHash("sha256")
      .update(`${metadata.uid}|${textOf(combination)}|${attempt}`)
      .digest(),
  ).slice(0, SUFFIX_LENGTH);
  return `${metadata.name}-${values.map((value) => `${value}-`).join("")}`.slice(0, LONGEST_PREFIX) + suffix;
}

/** Maximum of tried names. */
const NAMES = 8;

/** Creates the Partition of a combination if missing. @throws Error when all names are taken */
async function makePartition(
  partitions: Writable<Pick<Partition, "spec">>,
  set: PartitionSet,
  combination: Combination,
): Promise<void> {
  const { uid = "" } = set.metadata;
  for (let attempt = 0; attempt < NAMES; attempt++) {
    const name = partitionName(set, combination, attempt);
    const key = { cluster: clusterOf(set), namespace: "", name };
    const { object } = await ensure(partitions, key, () => contentOf(set, combination));
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined && ownerReferences.some((owner) => owner.uid === uid)) return;
  }
  throw new Error(`all names of a partition of ${set.metadata.name} are taken`);
}

function contentOf(set: PartitionSet, combination: Combination): Draft<{ spec: PartitionSpec }> {
  const { name = "", uid = "" } = set.metadata;
  const expressions = set.spec.shardSelector?.matchExpressions ?? [];
  const owner = { apiVersion: apiVersionOf(PartitionSet), kind: PartitionSet.kind, name, uid };
  return {
    metadata: { ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] },
    spec: {
      selector: {
        matchLabels: { ...combination },
        ...(expressions.length > 0 && { matchExpressions: structuredClone(expressions) }),
      },
    },
  };
}
