import { AGE_COLUMN, type JsonSchema, type TableColumn } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../../definition.ts";

const INT32 = { type: "integer", format: "int32" } as const;

const SCHEMA: JsonSchema = {
  type: "object",
  description: "Scale represents a scaling request for a resource.",
  properties: {
    spec: {
      type: "object",
      description: "What is wanted.",
      properties: { replicas: { ...INT32, description: "How many replicas are wanted; unset is none." } },
    },
    status: {
      type: "object",
      description: "What there is. Read-only.",
      required: ["replicas"],
      properties: {
        replicas: { ...INT32, description: "How many replicas there are." },
        selector: {
          type: "string",
          description: "Label selector of the replicas, as text; who scales by their load finds them by it.",
        },
      },
    },
  },
};

const COLUMNS: readonly TableColumn[] = [
  { name: "Desired", type: "integer", description: "Number of desired replicas", jsonPath: ".spec.replicas" },
  { name: "Available", type: "integer", description: "Number of actual replicas", jsonPath: ".status.replicas" },
  AGE_COLUMN,
];

/** What `/scale` of every kind reads and writes, `autoscaling/v1` `Scale`, with the columns that Kubernetes gives it. */
export const SCALE: ResourceDefinition = Object.freeze({
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  listKind: "ScaleList",
  plural: "scales",
  singular: "scale",
  scope: "Namespaced",
  shortNames: [],
  categories: [],
  schema: SCHEMA,
  columns: COLUMNS,
  selectableFields: [],
  subresources: { status: false },
  gracePeriodSeconds: 0,
  hash: "autoscaling/v1/Scale",
});
