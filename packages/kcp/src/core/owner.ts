/** Whose a logical cluster is, which is an object in another one. */
export const OWNER = {
  type: "object",
  description: "The object that the logical cluster was made for, as a rule a Workspace.",
  required: ["apiVersion", "cluster", "name", "resource", "uid"],
  properties: {
    apiVersion: { type: "string", pattern: "^([^/]+/)?[^/]+$", description: "The owner's group and version." },
    resource: { type: "string", minLength: 1, description: "The owner's resource, in the plural: workspaces." },
    name: { type: "string", minLength: 1, description: "The owner's name." },
    namespace: { type: "string", description: "The owner's namespace, if it has one." },
    cluster: { type: "string", minLength: 1, description: "The logical cluster that the owner is in." },
    uid: { type: "string", description: "The owner's uid." },
  },
} as const;

/** A user, as authentication gave them (authentication.k8s.io UserInfo). */
export const OWNER_USER = {
  type: "object",
  description: "Who asked for the logical cluster.",
  properties: {
    username: { type: "string", description: "The user's name." },
    uid: { type: "string", description: "Tells users of one name apart, over time." },
    groups: { type: "array", items: { type: "string" }, description: "The groups that the user was in." },
    extra: {
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
      description: "What else authentication said of the user.",
    },
  },
} as const;
