import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { ENDPOINTS } from "./endpoints.ts";
import type { Holds } from "./kind.ts";
import { AGE, apis } from "./kind.ts";
import { exportReference } from "./shared-schemas.ts";

/** APIExportEndpointSlice v1alpha1: the URLs of an APIExport's virtual workspace, one for each shard. */
export const APIExportEndpointSlice = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIExportEndpointSlice",
  description: "URLs of the virtual workspace of an APIExport.",
  columns: { Export: ".spec.export.name", Partition: ".spec.partition", Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Desired endpoints.",
        required: ["export"],
        properties: {
          export: exportReference,
          partition: { type: "string", description: "Partition of the shards. All shards if empty." },
        },
      },
      status: {
        type: "object",
        description: "Observed state.",
        properties: {
          conditions: CONDITIONS,
          endpoints: ENDPOINTS,
          shardSelector: { type: "string", description: "Shards of the slice, as a label selector in text form." },
        },
      },
    },
  },
});

/** {@link APIExportEndpointSlice} of version v1alpha1. */
export type APIExportEndpointSlice = ObjectOf<Holds<typeof APIExportEndpointSlice>>;
