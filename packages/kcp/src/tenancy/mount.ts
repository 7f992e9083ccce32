/** The condition of a mounted Workspace that says whether what it shows can be had (kcp's `MountConditionReady`). */
export const MOUNT_READY_CONDITION = "WorkspaceMountReady";

/** What a workspace shows instead of a logical cluster: the API that an object, of any kind, says where it is. */
export const MOUNT = {
  type: "object",
  description: "Shows another API in place of a logical cluster, which is then not made. Cannot be changed.",
  required: ["ref"],
  "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "mount is immutable" }],
  properties: {
    ref: {
      type: "object",
      description: "The object that says where the API is.",
      required: ["apiVersion", "kind", "name"],
      "x-kubernetes-validations": [
        { rule: "has(oldSelf.apiVersion) == has(self.apiVersion)", message: "apiVersion is immutable" },
        { rule: "has(oldSelf.kind) == has(self.kind)", message: "kind is immutable" },
        { rule: "has(oldSelf.name) == has(self.name)", message: "name is immutable" },
      ],
      properties: {
        apiVersion: { type: "string", description: "The object's group and version." },
        kind: { type: "string", description: "The object's kind." },
        name: { type: "string", description: "The object's name." },
        namespace: { type: "string", description: "The object's namespace, if it has one." },
      },
    },
  },
} as const;
