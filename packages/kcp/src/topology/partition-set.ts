import { CONDITIONS } from "../conditions/schema.ts";
import { kcpKind, type ObjectsOf } from "../core/kind.ts";
import { SHARD_SELECTOR } from "./shard-selector.ts";

/** kcp's PartitionSet (`topology.kcp.io/v1alpha1`): shards, to be divided into partitions by some of their labels. */
export const PartitionSet = kcpKind({
  group: "topology.kcp.io",
  kind: "PartitionSet",
  description: "Shards, to be divided into partitions by some of their labels.",
  columns: {
    // An integer in the schema; kcp shows it as a text.
    Count: { jsonPath: ".status.count", type: "string", description: "How many partitions there are." },
  },
  required: ["spec"],
  spec: {
    type: "object",
    description: "Which shards, and by what they are divided.",
    properties: {
      dimensions: {
        type: "array",
        items: { type: "string" },
        description: "Keys of labels. Shards with equal values of all of them are in one partition.",
      },
      shardSelector: SHARD_SELECTOR,
    },
  },
  status: {
    type: "object",
    description: "What came of it.",
    properties: {
      count: { type: "integer", description: "How many partitions there are." },
      conditions: CONDITIONS,
    },
  },
});

/** A set of partitions, as it is read. */
export type PartitionSet = ObjectsOf<typeof PartitionSet>;

/** Which shards are divided, and by what. */
export type PartitionSetSpec = PartitionSet["spec"];

/** What came of a set of partitions. */
export type PartitionSetStatus = NonNullable<PartitionSet["status"]>;
