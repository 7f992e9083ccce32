import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { AGE, apis } from "../fragments/common.ts";
import { conversion, names, resourceVersion } from "../fragments/resource-version.ts";
import type { Holds } from "./holds.ts";

/** APIResourceSchema v1alpha1: how a resource looks that is exported. Its spec cannot change. */
export const APIResourceSchema = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIResourceSchema",
  description: "How a resource looks that an APIExport offers. Its spec cannot change.",
  columns: { Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "The resource.",
        required: ["group", "names", "scope", "versions"],
        properties: {
          conversion,
          group: { type: "string", description: "API group, empty for the core group." },
          nameValidation: {
            type: "string",
            description: "What names of objects may be: DNS subdomains, or whatever a URL path can hold.",
            default: "DNS1123Subdomain",
            enum: ["DNS1123Subdomain", "PathSegmentName"],
          },
          names,
          scope: {
            type: "string",
            description: "Whether objects are in namespaces.",
            enum: ["Cluster", "Namespaced"],
          },
          versions: {
            type: "array",
            description: "The versions of the resource.",
            minItems: 1,
            items: resourceVersion,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
          },
        },
        "x-kubernetes-validations": [
          {
            rule: "size(self.versions) == 1 || (size(self.versions) > 1 && has(self.conversion))",
            message: "Conversion must be specified when multiple versions exist",
          },
        ],
      },
    },
  },
});

/** An {@link APIResourceSchema} of version v1alpha1. */
export type APIResourceSchema = ObjectOf<Holds<typeof APIResourceSchema>>;
