import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";

const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** kcp's Shard (`core.kcp.io/v1alpha1`): a server that keeps logical clusters, and where it is reached. */
export const Shard = kcpKind({
  group: "core.kcp.io",
  kind: "Shard",
  description: "A server that keeps logical clusters, and where it is reached.",
  columns: {
    Region: { jsonPath: ".metadata.labels['region']", description: "The region that the shard is in." },
    URL: { jsonPath: ".spec.baseURL", description: "Where the shard itself is reached." },
    "External URL": { jsonPath: ".spec.externalURL", description: "Where users reach its workspaces." },
  },
  required: [],
  spec: {
    type: "object",
    description: "Where the shard is reached.",
    required: ["baseURL"],
    properties: {
      baseURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "Where the shard itself is reached, as by a front proxy.",
      },
      externalURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "Where users reach its workspaces, as a rule a front proxy. As baseURL if missing.",
      },
      virtualWorkspaceURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "Where the virtual workspaces of the shard are reached. As baseURL if missing.",
      },
    },
  },
  status: {
    type: "object",
    description: "How the shard is.",
    properties: {
      capacity: {
        type: "object",
        description: "How much of what the shard has room for.",
        additionalProperties: {
          anyOf: [{ type: "integer" }, { type: "string" }],
          pattern: QUANTITY,
          "x-kubernetes-int-or-string": true,
        },
      },
      conditions: CONDITIONS,
    },
  },
});

/** A shard, as it is read. */
export type Shard = ObjectsOf<typeof Shard>;

/** Where a shard is reached. */
export type ShardSpec = NonNullable<Shard["spec"]>;

/** How a shard is. */
export type ShardStatus = NonNullable<Shard["status"]>;
