import { kcpKind, type ObjectsOf } from "../core/kind.ts";
import { LABEL_SELECTOR } from "../core/label-selector.ts";

/** kcp's Partition (`topology.kcp.io/v1alpha1`): some of the shards, as by region, that endpoint slices are made for. */
export const Partition = kcpKind({
  group: "topology.kcp.io",
  kind: "Partition",
  description: "Some of the shards, that endpoint slices are made for.",
  columns: {
    Owner: { jsonPath: ".metadata.ownerReferences[*].name", description: "The PartitionSet that made it, if one did." },
  },
  required: ["spec"],
  spec: { type: "object", description: "Which shards.", properties: { selector: LABEL_SELECTOR } },
});

/** A partition, as it is read. */
export type Partition = ObjectsOf<typeof Partition>;

/** Which shards are in a partition. */
export type PartitionSpec = Partition["spec"];
