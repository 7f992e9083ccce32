import { createHash } from "node:crypto";
import { base36, type PartitionSet, type Shard } from "@virtual-workspaces/kcp";

/** Shards with equal values of the labels that they are divided by: these values. */
export type Combination = Readonly<Record<string, string>>;

/** The combinations of a set that there is a shard for, each once; a shard that lacks one of the labels is in none. */
export function divide({ spec }: PartitionSet, shards: readonly Shard[]): Combination[] {
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

/** The same text for equal combinations. */
export function textOf(combination: Combination): string {
  return JSON.stringify(Object.entries(combination).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const LONGEST_PREFIX = 252;
const SUFFIX_LENGTH = 5;

/**
 * The name of the Partition of a combination: as if it were generated, but always the same, so that whoever makes it again
 * finds it. @param attempt another name each, where one is taken
 */
export function partitionName({ metadata, spec }: PartitionSet, combination: Combination, attempt: number): string {
  const dimensions = [...new Set(spec.dimensions ?? [])].sort();
  const values = dimensions.map((label) => (combination[label] ?? "").toLowerCase());
  const suffix = base36(
    createHash("sha256")
      .update(`${metadata.uid}|${textOf(combination)}|${attempt}`)
      .digest(),
  ).slice(0, SUFFIX_LENGTH);
  return `${[metadata.name, ...values].join("-").slice(0, LONGEST_PREFIX - SUFFIX_LENGTH)}-${suffix}`;
}
