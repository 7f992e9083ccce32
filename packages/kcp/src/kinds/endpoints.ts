import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { labelSelector } from "./claim-schemas.ts";

/** Schema of the endpoints in the status of an endpoint slice. */
export const ENDPOINTS = {
  type: "array",
  description: "URLs of the virtual workspace.",
  items: {
    type: "object",
    required: ["url"],
    properties: {
      shards: {
        type: "object",
        description: "Shards that use this URL, if URLs do not determine it.",
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
} as const satisfies JsonSchema;
