import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { INITIALIZERS, LABEL_SELECTOR, PHASE, SEGMENT_NAME, TERMINATORS, TYPE_REFERENCE } from "./shared-schemas.ts";

/** The condition of a mounted Workspace that says whether what it shows can be had (kcp's `MountConditionReady`). */
export const MOUNT_READY_CONDITION = "WorkspaceMountReady";

/** What a workspace shows instead of a logical cluster: the API that an object, of any kind, says where it is. */
const MOUNT = {
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

/**
 * kcp's Workspace (`tenancy.kcp.io/v1alpha1`): a name, in a workspace, for a logical cluster or for a mount. Its type,
 * cluster and mount cannot be changed once they are set. Its spec is there even if nobody gave one.
 */
export const Workspace = kcpKind({
  group: "tenancy.kcp.io",
  kind: "Workspace",
  shortNames: ["ws"],
  description: "A Kubernetes-like API of its own: it has its own kinds, objects and permissions.",
  names: SEGMENT_NAME,
  columns: {
    Type: { jsonPath: ".spec.type.name", description: "The workspace's type." },
    Region: { jsonPath: ".metadata.labels['region']", description: "The region that the workspace is in." },
    Phase: { jsonPath: ".status.phase", description: "Where the workspace is in its life." },
    URL: { jsonPath: ".spec.URL", description: "Where the workspace is served." },
  },
  required: ["spec"],
  spec: {
    type: "object",
    default: {},
    description: "What the workspace is to be.",
    "x-kubernetes-validations": [
      { rule: "!has(oldSelf.URL) || has(self.URL)", message: "URL cannot be unset" },
      { rule: "!has(oldSelf.cluster) || has(self.cluster)", message: "cluster cannot be unset" },
    ],
    properties: {
      type: {
        ...TYPE_REFERENCE,
        description:
          "The workspace's type, which decides how it is set up. Cannot be changed. By default what the type of the parent says.",
        "x-kubernetes-validations": [
          { rule: "self.name == oldSelf.name", message: "name is immutable" },
          { rule: "has(oldSelf.path) == has(self.path)", message: "path is immutable" },
          { rule: "!has(oldSelf.path) || !has(self.path) || self.path == oldSelf.path", message: "path is immutable" },
        ],
      },
      location: {
        type: "object",
        description: "Where the workspace may be kept. Anywhere if missing.",
        properties: { selector: { ...LABEL_SELECTOR, description: "The labels of shards that may keep it." } },
      },
      cluster: {
        type: "string",
        description: "The name of the logical cluster. Set by the server; cannot be changed.",
        "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "cluster is immutable" }],
      },
      URL: { type: "string", description: "Where the workspace is served. Set by the server." },
      mount: MOUNT,
    },
  },
  status: {
    type: "object",
    default: {},
    description: "What the workspace is.",
    properties: {
      phase: PHASE,
      conditions: CONDITIONS,
      initializers: INITIALIZERS,
      terminators: TERMINATORS,
    },
  },
});

/** A workspace, as it is read. */
export type Workspace = ObjectsOf<typeof Workspace>;

/** What a workspace is to be. */
export type WorkspaceSpec = Workspace["spec"];

/** What a workspace is. */
export type WorkspaceStatus = NonNullable<Workspace["status"]>;

/** What a workspace shows instead of a logical cluster. */
export type WorkspaceMount = NonNullable<WorkspaceSpec["mount"]>;

/** Which workspace type: by name, in the workspace at the path. */
export type WorkspaceTypeReference = NonNullable<WorkspaceSpec["type"]>;
