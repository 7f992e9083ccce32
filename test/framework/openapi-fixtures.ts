import { defineResource, type ResourceDefinition, type Verb } from "@virtual-workspaces/framework";
import type { Advertised } from "../../packages/framework/src/resource/served.ts";
import { advertisedSubresources } from "../../packages/framework/src/resource/subresources.ts";

export const READ: readonly Verb[] = ["get", "list", "watch"];
export const ALL: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** A definition as served with just these verbs; the documents read nothing else of a served resource. */
export function served(definition: ResourceDefinition, verbs: readonly Verb[] = READ): Advertised {
  const subresources = advertisedSubresources(definition, verbs, {
    named: {},
    updates: verbs.includes("update"),
    statusVerbs: verbs,
  });
  return { definition, verbs, subresources };
}

export const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  shortNames: ["qu"],
  categories: ["sayings"],
  description: "Something somebody said.",
  selectableFields: [".spec.author"],
  spec: {
    type: "object",
    description: "What was said.",
    required: ["text"],
    properties: { text: { type: "string", maxLength: 200, description: "The words." }, author: { type: "string" } },
  },
});

export const Author = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Author",
  scope: "Namespaced",
  schema: { type: "object", properties: { born: { type: "string", format: "date" } } },
});

export const OldQuote = defineResource({
  group: "example.dev",
  version: "v1beta2",
  kind: "Quote",
  scope: "Cluster",
  schema: { type: "object", properties: { text: { type: "string" } } },
});

export const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});

/** A kind with every keyword that OpenAPI v2 and protobuf treat specially. */
export const Everything = defineResource({
  group: "all.example.dev",
  version: "v1alpha1",
  kind: "Everything",
  plural: "everythings",
  scope: "Namespaced",
  schema: {
    type: "object",
    required: ["text", "maybe"],
    externalDocs: { url: "https://example.dev/docs", description: "More." },
    properties: {
      text: { type: "string", pattern: '^"a\\d+\n$', minLength: 1, maxLength: 9, default: "x: [y", enum: ["a", ""] },
      number: {
        type: "number",
        minimum: -5.5,
        maximum: 1e20,
        exclusiveMinimum: true,
        exclusiveMaximum: true,
        multipleOf: 0.25,
        example: 0,
      },
      maybe: { type: "string", nullable: true },
      list: {
        type: "array",
        minItems: 1,
        maxItems: 300,
        uniqueItems: true,
        items: { type: "object", title: "An item", required: ["k"], properties: { k: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
      },
      port: { "x-kubernetes-int-or-string": true },
      open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { z: { type: "string" } } },
      map: { type: "object", minProperties: 1, maxProperties: 2, additionalProperties: { type: "integer" } },
      free: { type: "object", additionalProperties: true },
      none: { type: "object", additionalProperties: false },
      embedded: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
      ruled: {
        type: "integer",
        format: "int64",
        "x-kubernetes-validations": [{ rule: "self > 0", message: 'not "so"' }],
        anyOf: [{ minimum: 1 }, { maximum: 4 }],
        not: { enum: [7] },
      },
    },
  },
});

export const EVERYTHING: readonly Advertised[] = [
  served(Quote),
  served(Author, ALL),
  served(OldQuote, ["get"]),
  served(ConfigMap, ["list", "watch"]),
  served(Everything, ALL),
];
