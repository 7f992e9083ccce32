/** A label selector (metav1.LabelSelector). */
export const LABEL_SELECTOR = {
  type: "object",
  description: "Which labels; all of what is said must hold, and what says nothing holds for everything.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Labels with the value that they must have.",
    },
    matchExpressions: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      description: "Demands on labels.",
      items: {
        type: "object",
        description: "A demand on one label.",
        required: ["key", "operator"],
        properties: {
          key: { type: "string", description: "The label." },
          operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string" },
            description: "The values of In and NotIn; none for the others.",
          },
        },
      },
    },
  },
} as const;
