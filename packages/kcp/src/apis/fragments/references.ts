import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const UNCHANGED = [{ rule: "self == oldSelf", message: "APIExport reference must not be changed" }] as const;

const reference = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", description: "Name of the APIExport." },
    path: {
      type: "string",
      description: "Workspace of the APIExport, by path or cluster name. The same workspace if empty.",
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    },
  },
} as const satisfies JsonSchema;

/** The APIExport of an endpoint slice. */
export const exportReference = {
  ...reference,
  description: "The APIExport whose endpoints these are. It cannot become another.",
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;

/** What an APIBinding binds. */
export const bindingReference = {
  type: "object",
  description: "What is bound. It cannot become another.",
  properties: { export: { ...reference, description: "An APIExport; the creator needs the verb bind on it." } },
  "x-kubernetes-validations": UNCHANGED,
} as const satisfies JsonSchema;
