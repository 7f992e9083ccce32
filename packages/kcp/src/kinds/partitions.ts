import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { LABEL_SELECTOR } from "./shared-schemas.ts";

const KEY = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const PREFIX = "[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?";

/** Returns CEL that checks whether a text is a label key. */
const isKey = (text: string): string =>
  `${text}.contains("/") ? ${text}.split("/", 2)[0].matches("^${PREFIX}$") && ${text}.split("/", 2)[1].matches("^${KEY}$") : ${text}.matches("^${KEY}$")`;

const KEY_MESSAGE = `Label key prefixes are optional and limited to 253 characters. They should match "^${PREFIX}$". Names are limited to 63 characters and should match "^${KEY}$". "/" is used as separator.`;

/** Schema of a label selector. The server validates labels and expressions on write, not at the first use. */
const SHARD_SELECTOR = {
  type: "object",
  description: "Selects shards by their labels. All if missing.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      maxProperties: 10,
      additionalProperties: { type: "string", maxLength: 380 },
      description: "Labels with their required values.",
      "x-kubernetes-validations": [
        { rule: `self.all(k, ${isKey("k")})`, message: KEY_MESSAGE },
        {
          rule: `self.all(k, self[k].matches("^${KEY}$"))`,
          message: `Label values are limited to 63 characters and should match "^${KEY}$".`,
        },
      ],
    },
    matchExpressions: {
      type: "array",
      maxItems: 10,
      "x-kubernetes-list-type": "atomic",
      description: "Expressions that must all match.",
      items: {
        type: "object",
        description: "Requirement for one label.",
        required: ["key", "operator"],
        properties: {
          key: {
            type: "string",
            maxLength: 317,
            description: "Label key.",
            "x-kubernetes-validations": [{ rule: isKey("self"), message: KEY_MESSAGE }],
          },
          operator: {
            type: "string",
            enum: ["In", "NotIn", "Exists", "DoesNotExist"],
            description: "In, NotIn, Exists or DoesNotExist.",
          },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string", maxLength: 63, pattern: `^${KEY}$` },
            description: "Values for In and NotIn. Must be empty for the others.",
          },
        },
        "x-kubernetes-validations": [
          {
            rule: 'self.operator in ["In", "NotIn"] ? size(self.values) > 0 : (self.operator in ["Exists", "DoesNotExist"] ? !has(self.values) : true)',
            message:
              "There should be at least one value for In and NotIn operators. There should not be any value for Exists and DoesNotExist operators.",
          },
        ],
      },
    },
  },
} as const;

/** kcp's Partition (`topology.kcp.io/v1alpha1`): a group of shards, such as a region, with endpoint slices of its own. */
export const Partition = kcpKind({
  group: "topology.kcp.io",
  kind: "Partition",
  description: "Group of shards with endpoint slices of its own.",
  columns: {
    Owner: { jsonPath: ".metadata.ownerReferences[*].name", description: "PartitionSet that created it, if any." },
  },
  required: ["spec"],
  spec: { type: "object", description: "Shards of the partition.", properties: { selector: LABEL_SELECTOR } },
});

/** Partition as clients read it. */
export type Partition = ObjectsOf<typeof Partition>;

/** Shards of a partition. */
export type PartitionSpec = Partition["spec"];

/** kcp's PartitionSet (`topology.kcp.io/v1alpha1`): shards to divide into partitions by some of their labels. */
export const PartitionSet = kcpKind({
  group: "topology.kcp.io",
  kind: "PartitionSet",
  description: "Shards to divide into partitions by some of their labels.",
  columns: {
    // The schema has an integer; kcp shows it as a string.
    Count: { jsonPath: ".status.count", type: "string", description: "Number of partitions." },
  },
  required: ["spec"],
  spec: {
    type: "object",
    description: "Shards, and the labels that divide them.",
    properties: {
      dimensions: {
        type: "array",
        items: { type: "string" },
        description: "Label keys. Shards with equal values for all of them form one partition.",
      },
      shardSelector: SHARD_SELECTOR,
    },
  },
  status: {
    type: "object",
    description: "Observed state.",
    properties: {
      count: { type: "integer", description: "Number of partitions." },
      conditions: CONDITIONS,
    },
  },
});

/** PartitionSet as clients read it. */
export type PartitionSet = ObjectsOf<typeof PartitionSet>;

/** Shards of a PartitionSet, and the labels that divide them. */
export type PartitionSetSpec = PartitionSet["spec"];

/** Observed state of a PartitionSet. */
export type PartitionSetStatus = NonNullable<PartitionSet["status"]>;
