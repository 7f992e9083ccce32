import type { JsonSchema } from "@virtual-workspaces/apimachinery";

/** kcp's conditions, as every kind of it has them below `status`. */
export const conditions = {
  type: "array",
  description: "What was observed of the object, by type.",
  items: {
    type: "object",
    required: ["lastTransitionTime", "status", "type"],
    properties: {
      lastTransitionTime: { type: "string", format: "date-time", description: "When the status last changed." },
      message: { type: "string", description: "The reason in words." },
      reason: { type: "string", description: "Why, in one CamelCase word." },
      severity: { type: "string", description: "How bad it is when the status is False: Error, Warning or Info." },
      status: { type: "string", description: "True, False or Unknown." },
      type: { type: "string", description: "What the condition is about, in CamelCase." },
    },
  },
} as const satisfies JsonSchema;
