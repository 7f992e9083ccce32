import { kind } from "./kind.ts";

/** Kind without special features: objects, strings, numbers, lists and maps. */
export const PLAIN = kind({
  kind: "Plain",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          text: { type: "string" },
          count: { type: "integer" },
          big: { type: "integer", format: "int64" },
          ratio: { type: "number" },
          on: { type: "boolean" },
          tags: { type: "array", items: { type: "string" } },
          labels: { type: "object", additionalProperties: { type: "string" } },
          nested: {
            type: "object",
            properties: { a: { type: "string" }, b: { type: "object", properties: { c: { type: "string" } } } },
          },
          steps: {
            type: "array",
            items: { type: "object", properties: { name: { type: "string" }, done: { type: "boolean" } } },
          },
        },
      },
      data: { type: "object", additionalProperties: { type: "string" } },
    },
  },
});

/** Cluster-scoped kind with columns and selectable fields. */
export const CARD = kind({
  kind: "Card",
  scope: "Cluster",
  shortNames: ["cd"],
  categories: ["sayings"],
  description: "A card with something on it.",
  spec: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string", description: "What it says." },
      color: { type: "string" },
      size: { type: "integer" },
      bold: { type: "boolean" },
      due: { type: "string", format: "date-time" },
      price: { type: "number" },
      tags: { type: "array", items: { type: "string" } },
    },
  },
  columns: {
    Text: ".spec.text",
    Color: { jsonPath: ".spec.color", description: "How it looks." },
    Size: { type: "integer", format: "int32", jsonPath: ".spec.size" },
    Bold: ".spec.bold",
    Due: { type: "date", jsonPath: ".spec.due", priority: 1 },
    Price: { jsonPath: ".spec.price", priority: 1 },
    Tag: { type: "string", jsonPath: ".spec.tags[0]", priority: 1 },
  },
  selectableFields: [".spec.color", ".spec.size", ".spec.bold"],
});

/** Kind with two versions of one schema. */
export const DUAL = kind({
  kind: "Dual",
  scope: "Namespaced",
  versions: ["v1", "v1alpha1"],
  schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { text: { type: "string" }, other: { type: "string" } } } },
  },
});
