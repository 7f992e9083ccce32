import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const matchExpressions = {
  type: "array",
  description: "Expressions that must all hold.",
  "x-kubernetes-list-type": "atomic",
  items: {
    type: "object",
    required: ["key", "operator"],
    properties: {
      key: { type: "string", description: "The label." },
      operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
      values: {
        type: "array",
        description: "Values to compare with, for In and NotIn.",
        items: { type: "string" },
        "x-kubernetes-list-type": "atomic",
      },
    },
  },
} as const satisfies JsonSchema;

const matchLabels = {
  type: "object",
  description: "Labels that must all be there with these values.",
  additionalProperties: { type: "string" },
} as const satisfies JsonSchema;

/** metav1.LabelSelector. */
export const labelSelector = {
  type: "object",
  properties: { matchExpressions, matchLabels },
  "x-kubernetes-map-type": "atomic",
} as const satisfies JsonSchema;

/** Which objects of a claimed resource are meant: by labels, or all. */
export const claimSelector = {
  type: "object",
  properties: {
    matchAll: { type: "boolean", description: "Every object of the resource; then no other field may be set." },
    matchExpressions,
    matchLabels,
  },
  "x-kubernetes-map-type": "atomic",
} as const satisfies JsonSchema;
