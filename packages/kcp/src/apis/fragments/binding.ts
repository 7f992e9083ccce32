import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { CONDITIONS } from "../../conditions/schema.ts";

/** What the status of APIBindings of both versions has. */
export const bindingStatus = {
  apiExportClusterName: { type: "string", description: "Logical cluster of the bound APIExport." },
  boundResources: {
    type: "array",
    description: "The resources that the workspace has by this binding.",
    items: {
      type: "object",
      required: ["group", "resource", "schema"],
      properties: {
        group: { type: "string", description: "API group, empty for the core group." },
        resource: { type: "string", description: "Plural name of the resource." },
        schema: {
          type: "object",
          description: "The APIResourceSchema by which it is served.",
          required: ["UID", "identityHash", "name"],
          properties: {
            UID: { type: "string", description: "UID of the APIResourceSchema.", minLength: 1 },
            identityHash: {
              type: "string",
              description: "Identity of the export, by which objects are kept.",
              minLength: 1,
            },
            name: { type: "string", description: "Name of the APIResourceSchema.", minLength: 1 },
          },
        },
        storageVersions: {
          type: "array",
          description: "Versions in which objects were ever kept. Empty if they are kept elsewhere.",
          items: { type: "string" },
          "x-kubernetes-list-type": "set",
        },
      },
    },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["group", "resource"],
  },
  conditions: CONDITIONS,
  phase: { type: "string", description: "How far binding has come.", enum: ["", "Binding", "Bound"] },
} as const satisfies Record<string, JsonSchema>;

export const PERMISSION_CLAIMS = "What was decided of the claims of the export.";
export const APPLIED_CLAIMS = "The accepted claims that are in force.";
export const EXPORT_CLAIMS = "The claims that the export makes.";
