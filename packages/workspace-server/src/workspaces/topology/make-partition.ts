import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { clusterOf, type Partition, PartitionSet, type PartitionSpec } from "@virtual-workspaces/kcp";
import { type Draft, ensure, type Written } from "../../state/modify.ts";
import { type Combination, partitionName } from "./divide.ts";

/** How many names are tried. */
const NAMES = 8;

/** Makes the Partition of a combination, if it is not there. @throws Error when all names are taken by others */
export async function makePartition(
  partitions: Written<Pick<Partition, "spec">>,
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
