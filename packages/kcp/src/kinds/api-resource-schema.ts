import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { AGE, apis, type Holds } from "./kind.ts";

const texts = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" } as const;

/** How objects become those of another version. */
const conversion = {
  type: "object",
  description: "How objects become those of another version. Required if there are several.",
  required: ["strategy"],
  properties: {
    strategy: {
      type: "string",
      description: "None changes nothing but apiVersion, Webhook asks a server.",
      enum: ["None", "Webhook"],
    },
    webhook: {
      type: "object",
      description: "The server that is asked.",
      required: ["conversionReviewVersions"],
      properties: {
        clientConfig: {
          type: "object",
          description: "How it is reached.",
          properties: {
            caBundle: { type: "string", format: "byte", description: "Certificates that it is known by, PEM." },
            url: { type: "string", format: "uri", description: "Its URL, https." },
          },
        },
        conversionReviewVersions: { ...texts, description: "Versions of ConversionReview that it knows, best first." },
      },
    },
  },
  "x-kubernetes-validations": [
    {
      rule: "(self.strategy == 'None' && !has(self.webhook))  || (self.strategy == 'Webhook' && has(self.webhook))",
      message: "Webhook must be specified if strategy=Webhook",
    },
  ],
} as const satisfies JsonSchema;

/** What a resource is called. */
const names = {
  type: "object",
  description: "What the resource is called.",
  required: ["kind", "plural"],
  properties: {
    categories: { ...texts, description: "Groups of resources that it is listed with: `kubectl get all`." },
    kind: { type: "string", description: "Kind of the objects, in CamelCase." },
    listKind: { type: "string", description: "Kind of lists of them." },
    plural: { type: "string", description: "Name of the resource in URLs." },
    shortNames: { ...texts, description: "Short names for it." },
    singular: { type: "string", description: "Its name for one object." },
  },
} as const satisfies JsonSchema;

/** One version of a resource. */
const resourceVersion = {
  type: "object",
  required: ["name", "schema", "served", "storage"],
  properties: {
    additionalPrinterColumns: {
      type: "array",
      description: "Columns of `kubectl get`. The age if there are none.",
      items: {
        type: "object",
        required: ["jsonPath", "name", "type"],
        properties: {
          description: { type: "string", description: "What the column shows." },
          format: { type: "string", description: "How the value is shown, an OpenAPI format." },
          jsonPath: { type: "string", description: "Where the value is." },
          name: { type: "string", description: "Head of the column." },
          priority: { type: "integer", format: "int32", description: "0 is always shown, more with -o wide." },
          type: { type: "string", description: "integer, number, string, boolean or date." },
        },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    deprecated: { type: "boolean", description: "Whether those who use the version are warned." },
    deprecationWarning: { type: "string", description: "The warning, instead of the usual one." },
    name: {
      type: "string",
      description: "Name of the version: v1, v2beta1.",
      minLength: 1,
      pattern: "^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$",
    },
    schema: {
      type: "object",
      description: "The structural schema of the objects.",
      "x-kubernetes-map-type": "atomic",
      "x-kubernetes-preserve-unknown-fields": true,
    },
    selectableFields: {
      type: "array",
      description: "Fields that field selectors may name, 8 at most.",
      items: {
        type: "object",
        required: ["jsonPath"],
        properties: { jsonPath: { type: "string", description: "Where the field is." } },
      },
      "x-kubernetes-list-type": "atomic",
    },
    served: { type: "boolean", description: "Whether the version can be used.", default: true },
    storage: { type: "boolean", description: "Whether objects are kept in it, which is so of one version." },
    subresources: {
      type: "object",
      description: "Which of /status and /scale there are.",
      properties: {
        scale: {
          type: "object",
          description: "How objects are scaled.",
          required: ["specReplicasPath", "statusReplicasPath"],
          properties: {
            labelSelectorPath: { type: "string", description: "JSON path of the selector of replicas." },
            specReplicasPath: { type: "string", description: "JSON path of the number of replicas that is wanted." },
            statusReplicasPath: { type: "string", description: "JSON path of the number of replicas there are." },
          },
        },
        status: { type: "object", description: "Given if .status is written through /status alone." },
      },
    },
  },
} as const satisfies JsonSchema;

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
