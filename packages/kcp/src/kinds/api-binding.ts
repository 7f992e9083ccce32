import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { acceptableClaim, claim, olderAcceptableClaim, olderClaim, scopedClaim } from "./claim-schemas.ts";
import { AGE, apis, conditionColumn, type Holds } from "./kind.ts";
import { bindingReference } from "./shared-schemas.ts";

/** What the status of APIBindings of both versions has. */
const bindingStatus = {
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

const PERMISSION_CLAIMS = "What was decided of the claims of the export.";
const APPLIED_CLAIMS = "The accepted claims that are in force.";
const EXPORT_CLAIMS = "The claims that the export makes.";

const kind = {
  ...apis,
  kind: "APIBinding",
  description:
    "Gives a workspace the resources of an APIExport, and the export's provider what is accepted of its claims.",
  columns: { Age: AGE, Ready: conditionColumn("Ready") },
} as const;

const byKey = {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["group", "resource", "identityHash"],
} as const;

/** APIBinding v1alpha2, the version that is kept: an APIExport bound in a workspace, and what was decided of its claims. */
export const APIBinding = defineResource({
  ...kind,
  version: "v1alpha2",
  spec: {
    type: "object",
    description: "What is bound, and on which terms.",
    required: ["reference"],
    properties: {
      permissionClaims: { type: "array", description: PERMISSION_CLAIMS, items: acceptableClaim, ...byKey },
      reference: bindingReference,
    },
  },
  status: {
    type: "object",
    description: "What was observed.",
    properties: {
      ...bindingStatus,
      appliedPermissionClaims: { type: "array", description: APPLIED_CLAIMS, items: scopedClaim, ...byKey },
      exportPermissionClaims: { type: "array", description: EXPORT_CLAIMS, items: claim },
    },
  },
});

/** An {@link APIBinding} of version v1alpha2. */
export type APIBinding = ObjectOf<Holds<typeof APIBinding>>;

/** APIBinding v1alpha1, which is served besides. */
export const APIBindingV1alpha1 = defineResource({
  ...kind,
  version: "v1alpha1",
  spec: {
    type: "object",
    description: "What is bound, and on which terms.",
    required: ["reference"],
    properties: {
      permissionClaims: { type: "array", description: PERMISSION_CLAIMS, items: olderAcceptableClaim },
      reference: { ...bindingReference, oneOf: [{ required: ["export"] }] },
    },
  },
  status: {
    type: "object",
    description: "What was observed.",
    properties: {
      ...bindingStatus,
      appliedPermissionClaims: { type: "array", description: APPLIED_CLAIMS, items: olderClaim },
      exportPermissionClaims: { type: "array", description: EXPORT_CLAIMS, items: olderClaim },
    },
  },
});

/** An APIBinding of version v1alpha1. */
export type APIBindingV1alpha1 = ObjectOf<Holds<typeof APIBindingV1alpha1>>;
