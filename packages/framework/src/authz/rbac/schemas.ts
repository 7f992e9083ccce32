import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { RbacObject } from "./objects.ts";

const texts: JsonSchema = { type: "array", items: { type: "string" } };

const rules: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["verbs"],
    properties: { verbs: texts, apiGroups: texts, resources: texts, resourceNames: texts, nonResourceURLs: texts },
  },
};

const text: JsonSchema = { type: "string" };

const roleRef: JsonSchema = {
  type: "object",
  required: ["kind", "name"],
  properties: { apiGroup: text, kind: text, name: text },
};

const subjects: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["kind", "name"],
    properties: { kind: text, apiGroup: text, name: text, namespace: text },
  },
};

const selector: JsonSchema = {
  type: "object",
  properties: {
    matchLabels: { type: "object", additionalProperties: { type: "string" } },
    matchExpressions: {
      type: "array",
      items: {
        type: "object",
        required: ["key", "operator"],
        properties: { key: text, operator: text, values: texts },
      },
    },
  },
};

const aggregationRule: JsonSchema = {
  type: "object",
  properties: { clusterRoleSelectors: { type: "array", items: selector } },
};

const binding: JsonSchema = { type: "object", required: ["roleRef"], properties: { roleRef, subjects } };

/** What objects look like. */
export const RBAC_SCHEMAS: Readonly<Record<RbacObject["kind"], JsonSchema>> = {
  Role: { type: "object", properties: { rules } },
  ClusterRole: { type: "object", properties: { rules, aggregationRule } },
  RoleBinding: binding,
  ClusterRoleBinding: binding,
};
