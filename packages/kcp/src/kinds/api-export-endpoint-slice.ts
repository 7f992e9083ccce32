import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { labelSelector } from "./claim-schemas.ts";
import type { Holds } from "./kind.ts";
import { AGE, apis } from "./kind.ts";
import { exportReference } from "./shared-schemas.ts";

/** APIExportEndpointSlice v1alpha1: the URLs under which an APIExport's virtual workspace is reached, one for each shard. */
export const APIExportEndpointSlice = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIExportEndpointSlice",
  description: "The URLs under which the virtual workspace of an APIExport is reached.",
  columns: { Export: ".spec.export.name", Partition: ".spec.partition", Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Which endpoints are wanted.",
        required: ["export"],
        properties: {
          export: exportReference,
          partition: { type: "string", description: "Partition of the shards that are meant. All shards if empty." },
        },
      },
      status: {
        type: "object",
        description: "What was observed.",
        properties: {
          conditions: CONDITIONS,
          endpoints: {
            type: "array",
            description: "The URLs.",
            items: {
              type: "object",
              required: ["url"],
              properties: {
                shards: {
                  type: "object",
                  description: "The shards that this URL is for, if URLs do not say it.",
                  properties: {
                    matchAll: { type: "boolean", description: "All shards." },
                    selector: { ...labelSelector, description: "Shards by their labels." },
                  },
                  "x-kubernetes-validations": [
                    {
                      rule: "!(has(self.matchAll) && self.matchAll && has(self.selector))",
                      message: "matchAll and selector are mutually exclusive",
                    },
                  ],
                },
                url: { type: "string", description: "URL of the virtual workspace.", minLength: 1 },
              },
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["url"],
          },
          shardSelector: { type: "string", description: "The shards that are meant, as a label selector in text." },
        },
      },
    },
  },
});

/** An {@link APIExportEndpointSlice} of version v1alpha1. */
export type APIExportEndpointSlice = ObjectOf<Holds<typeof APIExportEndpointSlice>>;
