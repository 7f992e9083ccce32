/** The schema of a list of conditions, as every status of kcp's has one. */
export const CONDITIONS = {
  type: "array",
  description: "What was observed of the object, Ready first.",
  items: {
    type: "object",
    description: "Something observed of the object.",
    required: ["lastTransitionTime", "status", "type"],
    properties: {
      type: { type: "string", description: "What was observed, in CamelCase; one of each." },
      status: { type: "string", description: "Whether it holds: True, False or Unknown." },
      severity: { type: "string", description: "How bad it is that it does not hold: Error, Warning or Info." },
      lastTransitionTime: {
        type: "string",
        format: "date-time",
        description: "When anything else of the condition changed last.",
      },
      reason: { type: "string", description: "Why, in one CamelCase word for programs." },
      message: { type: "string", description: "Why, in words for people." },
    },
  },
} as const;
