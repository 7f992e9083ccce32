import { PATH } from "../core/names.ts";
import { TYPE_REFERENCE } from "./type-reference.ts";

/** A list of RBAC rules (rbac.authorization.k8s.io PolicyRule). */
export const POLICY_RULES = {
  type: "array",
  items: {
    type: "object",
    description: "What may be done with what.",
    required: ["verbs"],
    properties: {
      verbs: texts("What may be done; * is everything."),
      apiGroups: texts('The groups of the resources; "" is the core group, * all.'),
      resources: texts("The resources, in the plural; * is all, pods/log a subresource."),
      resourceNames: texts("The names of the objects. All if missing."),
      nonResourceURLs: texts("Paths that are no resources; * stands for the rest of one."),
    },
  },
} as const;

function texts<const Description extends string>(description: Description) {
  return { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "string" }, description } as const;
}

/** Which workspace types may stand above or below. */
export const TYPE_SELECTOR = {
  type: "object",
  oneOf: [{ required: ["none"] }, { required: ["types"] }],
  properties: {
    none: { type: "boolean", description: "No type at all." },
    types: {
      type: "array",
      minItems: 1,
      items: TYPE_REFERENCE,
      description: "These types, and those that extend them.",
    },
  },
} as const;

/** The exports that are bound in new workspaces. */
export const DEFAULT_BINDINGS = {
  type: "array",
  description: "The exports that are bound in workspaces of the type while they are set up.",
  items: {
    type: "object",
    description: "An APIExport.",
    required: ["export"],
    properties: { path: PATH, export: { type: "string", description: "The export's name." } },
  },
} as const;
