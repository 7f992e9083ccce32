import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { AGE, apis, type Holds } from "./kind.ts";

const texts = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" } as const;

/** Conversion between versions. */
const conversion = {
  type: "object",
  description: "Conversion between versions. Required for several versions.",
  required: ["strategy"],
  properties: {
    strategy: {
      type: "string",
      description: "None changes only apiVersion. Webhook calls a server.",
      enum: ["None", "Webhook"],
    },
    webhook: {
      type: "object",
      description: "Server that converts objects.",
      required: ["conversionReviewVersions"],
      properties: {
        clientConfig: {
          type: "object",
          description: "Connection to the server.",
          properties: {
            caBundle: { type: "string", format: "byte", description: "CA certificates of the server, PEM." },
            url: { type: "string", format: "uri", description: "URL of the server, https." },
          },
        },
        conversionReviewVersions: { ...texts, description: "Supported ConversionReview versions, preferred first." },
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

/** Names of a resource. */
const names = {
  type: "object",
  description: "Names of the resource.",
  required: ["kind", "plural"],
  properties: {
    categories: { ...texts, description: "Categories that include the resource, as in `kubectl get all`." },
    kind: { type: "string", description: "Kind of the objects, in CamelCase." },
    listKind: { type: "string", description: "Kind of lists." },
    plural: { type: "string", description: "Name of the resource in URLs." },
    shortNames: { ...texts, description: "Short names of the resource." },
    singular: { type: "string", description: "Name of a single object." },
  },
} as const satisfies JsonSchema;

/** Version of a resource. */
const resourceVersion = {
  type: "object",
  required: ["name", "schema", "served", "storage"],
  properties: {
    additionalPrinterColumns: {
      type: "array",
      description: "Columns of `kubectl get`. Only the age if not set.",
      items: {
        type: "object",
        required: ["jsonPath", "name", "type"],
        properties: {
          description: { type: "string", description: "Content of the column." },
          format: { type: "string", description: "OpenAPI format of the value." },
          jsonPath: { type: "string", description: "JSON path of the value." },
          name: { type: "string", description: "Header of the column." },
          priority: { type: "integer", format: "int32", description: "0: always shown, higher: with -o wide." },
          type: { type: "string", description: "Type of the value: integer, number, string, boolean or date." },
        },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    deprecated: { type: "boolean", description: "Whether clients that use the version get a warning." },
    deprecationWarning: { type: "string", description: "Text of the warning, instead of the default one." },
    name: {
      type: "string",
      description: "Name of the version: v1, v2beta1.",
      minLength: 1,
      pattern: "^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$",
    },
    schema: {
      type: "object",
      description: "Structural schema of the objects.",
      "x-kubernetes-map-type": "atomic",
      "x-kubernetes-preserve-unknown-fields": true,
    },
    selectableFields: {
      type: "array",
      description: "Fields for field selectors, 8 at most.",
      items: {
        type: "object",
        required: ["jsonPath"],
        properties: { jsonPath: { type: "string", description: "JSON path of the field." } },
      },
      "x-kubernetes-list-type": "atomic",
    },
    served: { type: "boolean", description: "Whether clients can use the version.", default: true },
    storage: { type: "boolean", description: "Whether this is the storage version, of which there is one." },
    subresources: {
      type: "object",
      description: "Enabled subresources: /status and /scale.",
      properties: {
        scale: {
          type: "object",
          description: "Fields of the scale subresource.",
          required: ["specReplicasPath", "statusReplicasPath"],
          properties: {
            labelSelectorPath: { type: "string", description: "JSON path of the replicas' label selector." },
            specReplicasPath: { type: "string", description: "JSON path of the desired number of replicas." },
            statusReplicasPath: { type: "string", description: "JSON path of the actual number of replicas." },
          },
        },
        status: { type: "object", description: "If set, only /status writes .status." },
      },
    },
  },
} as const satisfies JsonSchema;

/** APIResourceSchema v1alpha1: definition of an exported resource. Its spec is immutable. */
export const APIResourceSchema = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIResourceSchema",
  description: "Definition of a resource for APIExports. Its spec is immutable.",
  columns: { Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Definition of the resource.",
        required: ["group", "names", "scope", "versions"],
        properties: {
          conversion,
          group: { type: "string", description: "API group, empty for the core group." },
          nameValidation: {
            type: "string",
            description: "Rule for object names: DNS subdomain, or any URL path segment.",
            default: "DNS1123Subdomain",
            enum: ["DNS1123Subdomain", "PathSegmentName"],
          },
          names,
          scope: {
            type: "string",
            description: "Whether objects have a namespace.",
            enum: ["Cluster", "Namespaced"],
          },
          versions: {
            type: "array",
            description: "Versions of the resource.",
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

/** {@link APIResourceSchema} of version v1alpha1. */
export type APIResourceSchema = ObjectOf<Holds<typeof APIResourceSchema>>;
