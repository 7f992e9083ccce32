import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { CONDITIONS } from "../../conditions/schema.ts";

/** What APIExports of both versions say of their owner. */
export const exportOwner = {
  identity: {
    type: "object",
    description: "The secret that is the identity of the export. Made when there is none.",
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
    description: "What anybody may do at most with the exported resources. No limit if not set.",
    oneOf: [{ required: ["local"] }],
    properties: {
      local: {
        type: "object",
        description:
          "The roles of the workspace of the export, for users and groups prefixed with apis.kcp.io:binding:.",
      },
    },
  },
} as const satisfies Record<string, JsonSchema>;

export const exportStatus = {
  type: "object",
  description: "What was observed.",
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
