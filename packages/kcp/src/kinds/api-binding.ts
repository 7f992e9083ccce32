import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { acceptableClaim, claim, olderAcceptableClaim, olderClaim, scopedClaim } from "./claim-schemas.ts";
import { AGE, apis, conditionColumn, type Holds } from "./kind.ts";
import { bindingReference } from "./shared-schemas.ts";

/** Status of APIBindings in both versions. */
const bindingStatus = {
  apiExportClusterName: { type: "string", description: "Logical cluster of the bound APIExport." },
  boundResources: {
    type: "array",
    description: "Resources that the workspace has through this binding.",
    items: {
      type: "object",
      required: ["group", "resource", "schema"],
      properties: {
        group: { type: "string", description: "API group, empty for the core group." },
        resource: { type: "string", description: "Plural name of the resource." },
        schema: {
          type: "object",
          description: "APIResourceSchema of the resource.",
          required: ["UID", "identityHash", "name"],
          properties: {
            UID: { type: "string", description: "UID of the APIResourceSchema.", minLength: 1 },
            identityHash: {
              type: "string",
              description: "Identity of the export, under which objects are stored.",
              minLength: 1,
            },
            name: { type: "string", description: "Name of the APIResourceSchema.", minLength: 1 },
          },
        },
        storageVersions: {
          type: "array",
          description: "Versions in which objects were ever stored. Empty if they are stored elsewhere.",
          items: { type: "string" },
          "x-kubernetes-list-type": "set",
        },
      },
    },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["group", "resource"],
  },
  conditions: CONDITIONS,
  phase: { type: "string", description: "Progress of the binding.", enum: ["", "Binding", "Bound"] },
} as const satisfies Record<string, JsonSchema>;

const PERMISSION_CLAIMS = "Decisions on the permission claims of the export.";
const APPLIED_CLAIMS = "Accepted claims that are in force.";
const EXPORT_CLAIMS = "Claims of the export.";

const kind = {
  ...apis,
  kind: "APIBinding",
  description:
    "Gives a workspace the resources of an APIExport, and gives the provider of the export the accepted claims.",
  columns: { Age: AGE, Ready: conditionColumn("Ready") },
} as const;

const byKey = {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["group", "resource", "identityHash"],
} as const;

/** APIBinding v1alpha2, the storage version: an APIExport bound in a workspace, with the decisions on its claims. */
export const APIBinding = defineResource({
  ...kind,
  version: "v1alpha2",
  spec: {
    type: "object",
    description: "Bound export and its terms.",
    required: ["reference"],
    properties: {
      permissionClaims: { type: "array", description: PERMISSION_CLAIMS, items: acceptableClaim, ...byKey },
      reference: bindingReference,
    },
  },
  status: {
    type: "object",
    description: "Observed state.",
    properties: {
      ...bindingStatus,
      appliedPermissionClaims: { type: "array", description: APPLIED_CLAIMS, items: scopedClaim, ...byKey },
      exportPermissionClaims: { type: "array", description: EXPORT_CLAIMS, items: claim },
    },
  },
});

/** {@link APIBinding} of version v1alpha2. */
export type APIBinding = ObjectOf<Holds<typeof APIBinding>>;

/** APIBinding v1alpha1, the older served version. */
export const APIBindingV1alpha1 = defineResource({
  ...kind,
  version: "v1alpha1",
  spec: {
    type: "object",
    description: "Bound export and its terms.",
    required: ["reference"],
    properties: {
      permissionClaims: { type: "array", description: PERMISSION_CLAIMS, items: olderAcceptableClaim },
      reference: { ...bindingReference, oneOf: [{ required: ["export"] }] },
    },
  },
  status: {
    type: "object",
    description: "Observed state.",
    properties: {
      ...bindingStatus,
      appliedPermissionClaims: { type: "array", description: APPLIED_CLAIMS, items: olderClaim },
      exportPermissionClaims: { type: "array", description: EXPORT_CLAIMS, items: olderClaim },
    },
  },
});

/** APIBinding of version v1alpha1. */
export type APIBindingV1alpha1 = ObjectOf<Holds<typeof APIBindingV1alpha1>>;
