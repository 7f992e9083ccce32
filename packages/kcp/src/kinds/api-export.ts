import type { JsonSchema, ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { claim, olderExportClaim } from "./claim-schemas.ts";
import { AGE, apis, conditionColumn, type Holds } from "./kind.ts";

/** Owner fields of APIExports in both versions. */
const exportOwner = {
  identity: {
    type: "object",
    description: "Secret with the identity of the export. Created by the server if missing.",
    properties: {
      secretRef: {
        type: "object",
        description: "A secret whose field `key` is the identity.",
        properties: {
          name: { type: "string", description: "Name of the secret." },
          namespace: { type: "string", description: "Namespace of the secret." },
        },
        "x-kubernetes-map-type": "atomic",
      },
    },
  },
  maximalPermissionPolicy: {
    type: "object",
    description: "Limit on what any user may do with the exported resources. No limit if not set.",
    oneOf: [{ required: ["local"] }],
    properties: {
      local: {
        type: "object",
        description:
          "Use the RBAC roles of the export's workspace, for users and groups with the prefix apis.kcp.io:binding:.",
      },
    },
  },
} as const satisfies Record<string, JsonSchema>;

const exportStatus = {
  type: "object",
  description: "Observed state.",
  properties: {
    conditions: CONDITIONS,
    identityHash: { type: "string", description: "Hash of the identity. Never changes once it is set." },
    virtualWorkspaces: {
      type: "array",
      description: "Deprecated: see APIExportEndpointSlice.",
      items: {
        type: "object",
        required: ["url"],
        properties: { url: { type: "string", description: "URL of the export's virtual workspace.", minLength: 1 } },
      },
    },
  },
} as const satisfies JsonSchema;

const CLAIMS = "Resources of bound workspaces that the provider claims in addition to its own.";

/** APIExport v1alpha2, the storage version: resources and claims that other workspaces can bind. */
export const APIExport = defineResource({
  ...apis,
  version: "v1alpha2",
  kind: "APIExport",
  description: "Resources that other workspaces can bind, and the permission claims of their provider.",
  columns: { Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Exported resources and claims.",
        properties: {
          ...exportOwner,
          permissionClaims: {
            type: "array",
            description: CLAIMS,
            items: claim,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["group", "resource"],
          },
          resources: {
            type: "array",
            description: "The exported resources.",
            items: {
              type: "object",
              required: ["group", "name", "schema"],
              properties: {
                group: { type: "string", description: "API group, empty for the core group." },
                name: { type: "string", description: "Plural name of the resource." },
                schema: { type: "string", description: "Name of the APIResourceSchema: <prefix>.<name>.<group>." },
                storage: {
                  type: "object",
                  description: "Storage of the resource's objects.",
                  default: { crd: {} },
                  oneOf: [{ required: ["crd"] }, { required: ["virtual"] }],
                  properties: {
                    crd: {
                      type: "object",
                      description: "Store objects in the workspace that binds, like custom resources.",
                    },
                    virtual: {
                      type: "object",
                      description: "Serve objects from a virtual workspace.",
                      required: ["identityHash", "reference"],
                      properties: {
                        identityHash: { type: "string", description: "Identity of the virtual resource." },
                        reference: {
                          type: "object",
                          description: "Object of the export's workspace with URLs in status.endpoints.",
                          required: ["kind", "name"],
                          properties: {
                            apiGroup: { type: "string", description: "API group of the object." },
                            kind: { type: "string", description: "Kind of the object." },
                            name: { type: "string", description: "Name of the object." },
                          },
                          "x-kubernetes-map-type": "atomic",
                        },
                      },
                    },
                  },
                  "x-kubernetes-validations": [
                    {
                      rule: "has(self.crd) != has(self.virtual)",
                      message: "Exactly one of crd or virtual must be set",
                    },
                  ],
                },
              },
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "group"],
          },
        },
      },
      status: exportStatus,
    },
  },
});

/** {@link APIExport} of version v1alpha2. */
export type APIExport = ObjectOf<Holds<typeof APIExport>>;

/** APIExport v1alpha1, the older served version. */
export const APIExportV1alpha1 = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIExport",
  description: "Resources that other workspaces can bind, and the permission claims of their provider.",
  columns: { Age: AGE, Ready: conditionColumn("VirtualWorkspaceURLsReady") },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Exported resources and claims.",
        properties: {
          ...exportOwner,
          latestResourceSchemas: {
            type: "array",
            description: "Names of the exported APIResourceSchemas.",
            items: { type: "string" },
            "x-kubernetes-list-type": "set",
          },
          permissionClaims: {
            type: "array",
            description: CLAIMS,
            items: olderExportClaim,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["group", "resource"],
          },
        },
      },
      status: exportStatus,
    },
  },
});

/** APIExport of version v1alpha1. */
export type APIExportV1alpha1 = ObjectOf<Holds<typeof APIExportV1alpha1>>;
