import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { LogicalCluster } from "@virtual-workspaces/kcp";

const NAMES: JsonSchema = { type: "array", items: { type: "string" } };

/**
 * LogicalClusters as the shard has them, whatever newer ones say: nothing of them is checked or left out here, but the lists that
 * the view has a rule about. As in kcp.
 */
export const ShownLogicalCluster: Resource = new Resource({
  group: LogicalCluster.group,
  version: LogicalCluster.version,
  kind: LogicalCluster.kind,
  scope: LogicalCluster.scope,
  categories: LogicalCluster.categories,
  columns: LogicalCluster.columns,
  subresources: LogicalCluster.subresources,
  description: "A logical cluster that waits for a controller of its workspace type.",
  schema: {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: {
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      status: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { initializers: NAMES, terminators: NAMES },
      },
    },
  },
});
