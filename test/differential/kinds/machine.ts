import { kind } from "./kind.ts";

/** Kind with status and scale. */
export const MACHINE = kind({
  kind: "Machine",
  scope: "Namespaced",
  spec: {
    type: "object",
    properties: {
      replicas: { type: "integer", minimum: 0, maximum: 100 },
      image: { type: "string", default: "none" },
      paused: { type: "boolean" },
    },
  },
  status: {
    type: "object",
    properties: {
      replicas: { type: "integer" },
      selector: { type: "string" },
      phase: { type: "string", enum: ["Pending", "Running", "Failed"] },
      conditions: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          type: "object",
          required: ["type", "status"],
          properties: { type: { type: "string" }, status: { type: "string" }, message: { type: "string" } },
        },
      },
    },
  },
  columns: { Replicas: ".spec.replicas", Phase: ".status.phase" },
  subresources: {
    status: true,
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
});

/** Kind whose status has defaults, although only `/status` may set it. */
export const WAITER = kind({
  kind: "Waiter",
  scope: "Namespaced",
  spec: { type: "object", default: {}, properties: { table: { type: "integer", default: 1 } } },
  status: {
    type: "object",
    default: {},
    properties: { phase: { type: "string", default: "Waiting" }, guests: { type: "integer" } },
  },
});
