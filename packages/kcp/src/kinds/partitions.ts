import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { LABEL_SELECTOR } from "./shared-schemas.ts";

const KEY = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const PREFIX = "[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?";

/** CEL that says whether a text is the key of a label. */
const isKey = (text: string): string =>
  `${text}.contains("/") ? ${text}.split("/", 2)[0].matches("^${PREFIX}$") && ${text}.split("/", 2)[1].matches("^${KEY}$") : ${text}.matches("^${KEY}$")`;

const KEY_MESSAGE = `Label key prefixes are optional and limited to 253 characters. They should match "^${PREFIX}$". Names are limited to 63 characters and should match "^${KEY}$". "/" is used as separator.`;

/** A label selector whose labels and demands are checked when it is written, and not when it is first used. */
const SHARD_SELECTOR = {
  type: "object",
  description: "Which shards, by their labels. All if missing.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      maxProperties: 10,
      additionalProperties: { type: "string", maxLength: 380 },
      description: "Labels with the value that they must have.",
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
      description: "Demands on labels.",
      items: {
        type: "object",
        description: "A demand on one label.",
        required: ["key", "operator"],
        properties: {
          key: {
            type: "string",
            maxLength: 317,
            description: "The label.",
            "x-kubernetes-validations": [{ rule: isKey("self"), message: KEY_MESSAGE }],
          },
          operator: {
            type: "string",
            enum: ["In", "NotIn", "Exists", "DoesNotExist"],
            description: "What is demanded.",
          },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string", maxLength: 63, pattern: `^${KEY}$` },
            description: "The values of In and NotIn; none for the others.",
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
