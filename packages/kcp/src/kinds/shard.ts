import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";

const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** kcp's Shard (`core.kcp.io/v1alpha1`): a server that stores logical clusters, and its URLs. */
export const Shard = kcpKind({
  group: "core.kcp.io",
  kind: "Shard",
  description: "Server that stores logical clusters, and its URLs.",
  columns: {
    Region: { jsonPath: ".metadata.labels['region']", description: "Region of the shard." },
    URL: { jsonPath: ".spec.baseURL", description: "URL of the shard itself." },
    "External URL": { jsonPath: ".spec.externalURL", description: "URL of the shard's workspaces for users." },
  },
  required: [],
  spec: {
    type: "object",
    description: "URLs of the shard.",
    required: ["baseURL"],
    properties: {
      baseURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "URL of the shard itself, for example for a front proxy.",
      },
      externalURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "URL of the shard's workspaces for users, usually of a front proxy. Defaults to baseURL.",
      },
      virtualWorkspaceURL: {
        type: "string",
        format: "uri",
        minLength: 1,
        description: "URL of the shard's virtual workspaces. Defaults to baseURL.",
      },
    },
  },
  status: {
    type: "object",
    description: "Observed state of the shard.",
    properties: {
      capacity: {
        type: "object",
        description: "Capacity of the shard by resource.",
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

/** Shard as clients read it. */
export type Shard = ObjectsOf<typeof Shard>;

/** URLs of a shard. */
export type ShardSpec = NonNullable<Shard["spec"]>;

/** Observed state of a shard. */
export type ShardStatus = NonNullable<Shard["status"]>;
