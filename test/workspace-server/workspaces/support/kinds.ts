// Minimal versions of kinds from other parts of the server.
import { defineResource } from "@virtual-workspaces/framework";

const TEXTS = { type: "array", items: { type: "string" } } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1", scope: "Cluster" } as const;

export const Namespace = defineResource({
  group: "",
  version: "v1",
  kind: "Namespace",
  scope: "Cluster",
  spec: { type: "object", properties: { finalizers: TEXTS } },
  status: { type: "object", properties: { phase: { type: "string" } } },
});

export const ClusterRole = defineResource({
  ...RBAC,
  kind: "ClusterRole",
  schema: { type: "object", properties: { rules: { type: "array", items: { type: "object" } } } },
});

export const ClusterRoleBinding = defineResource({
  ...RBAC,
  kind: "ClusterRoleBinding",
  schema: {
    type: "object",
    required: ["roleRef"],
    properties: {
      subjects: {
        type: "array",
        items: {
          type: "object",
          required: ["kind", "name"],
          properties: {
            kind: { type: "string" },
            apiGroup: { type: "string" },
            name: { type: "string" },
            namespace: { type: "string" },
          },
        },
      },
      roleRef: {
        type: "object",
        required: ["apiGroup", "kind", "name"],
        properties: { apiGroup: { type: "string" }, kind: { type: "string" }, name: { type: "string" } },
      },
    },
  },
});

/** A kind that users store in their workspaces. */
export const Widget = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Widget",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
