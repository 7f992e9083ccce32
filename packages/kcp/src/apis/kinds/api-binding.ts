import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { APPLIED_CLAIMS, bindingStatus, EXPORT_CLAIMS, PERMISSION_CLAIMS } from "../fragments/binding.ts";
import { acceptableClaim, claim, olderAcceptableClaim, olderClaim, scopedClaim } from "../fragments/claims.ts";
import { AGE, apis, conditionColumn } from "../fragments/common.ts";
import { bindingReference } from "../fragments/references.ts";
import type { Holds } from "./holds.ts";

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
