import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import type { ObjectsOf } from "./kind.ts";

/**
 * kcp's LogicalClusterMigration (`migration.kcp.io/v1alpha1`): a move of a logical cluster to another shard. The workspace
 * server stores it without effect.
 */
export const LogicalClusterMigration = defineResource({
  group: "migration.kcp.io",
  version: "v1alpha1",
  kind: "LogicalClusterMigration",
  scope: "Cluster",
  categories: ["kcp"],
  lazySchema: true,
  description: "Move of a logical cluster to another shard.",
  // A list, because kcp shows no age.
  columns: [
    {
      name: "Logical Cluster",
      type: "string",
      jsonPath: ".spec.logicalCluster",
      description: "Logical cluster to move.",
    },
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Phase of the move." },
    { name: "Destination", type: "string", jsonPath: ".spec.destinationShard", description: "Shard to move it to." },
    {
      name: "Entries Copied",
      type: "integer",
      jsonPath: ".status.entriesCopied",
      description: "Number of copied entries.",
    },
  ],
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Logical cluster and destination.",
        required: ["destinationShard", "logicalCluster"],
        properties: {
          logicalCluster: { type: "string", minLength: 1, description: "Name of the logical cluster." },
          destinationShard: { type: "string", minLength: 1, description: "Name of the shard to move it to." },
        },
      },
      status: {
        type: "object",
        description: "Observed state.",
        properties: {
          conditions: CONDITIONS,
          phase: {
            type: "string",
            default: "Preparing",
            enum: ["Preparing", "Migrating", "OriginCleanup", "DestinationFinalize", "Completed", "Failed"],
            description: "Phase of the move.",
          },
          originShard: { type: "string", description: "Name of the shard that the logical cluster leaves." },
          entriesCopied: { type: "integer", format: "int64", description: "Number of copied entries of the store." },
          dumpContinue: { type: "string", description: "Where the copy continues. Empty once it is complete." },
        },
      },
    },
  },
});

/** LogicalClusterMigration as clients read it. */
export type LogicalClusterMigration = ObjectsOf<typeof LogicalClusterMigration>;

/**
 * kcp's LogicalClusterDump (`migration.kcp.io/v1alpha1`): a page of the stored entries of a logical cluster that moves. The
 * workspace server stores it without effect.
 */
export const LogicalClusterDump = defineResource({
  group: "migration.kcp.io",
  version: "v1alpha1",
  kind: "LogicalClusterDump",
  scope: "Namespaced",
  lazySchema: true,
  description: "Page of the stored entries of a logical cluster that moves.",
  subresources: { status: false },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Requested page.",
        properties: {
          continue: {
            type: "string",
            description: "Value of status.continue of the page before. The first page if empty.",
          },
          limit: { type: "integer", format: "int64", description: "Maximum number of entries. 0: the server decides." },
          maxBytes: {
            type: "integer",
            format: "int64",
            description: "Maximum size of the values, bytes. 0: the server decides.",
          },
        },
      },
      status: {
        type: "object",
        description: "Entries of the page.",
        properties: {
          continue: { type: "string", description: "Where the next page begins. Empty on the last page." },
          entries: {
            type: "array",
            description: "Stored entries, as the shard encodes them.",
            items: {
              type: "object",
              description: "Stored entry.",
              required: ["key", "value"],
              properties: {
                key: { type: "string", description: "Key in the store, without the store's prefix." },
                value: { type: "string", format: "byte", description: "Stored bytes, base64." },
              },
            },
          },
        },
      },
    },
  },
});

/** LogicalClusterDump as clients read it. */
export type LogicalClusterDump = ObjectsOf<typeof LogicalClusterDump>;
