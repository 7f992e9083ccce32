import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { INITIALIZERS, LABEL_SELECTOR, PHASE, SEGMENT_NAME, TERMINATORS, TYPE_REFERENCE } from "./shared-schemas.ts";

/** Condition of a mounted Workspace that reports whether its target is available (kcp's `MountConditionReady`). */
export const MOUNT_READY_CONDITION = "WorkspaceMountReady";

/** Schema of the mount of a workspace: the API of an object of any kind, instead of a logical cluster. */
const MOUNT = {
  type: "object",
  description: "Mounts another API instead of a logical cluster, which is then not created. Immutable.",
  required: ["ref"],
  "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "mount is immutable" }],
  properties: {
    ref: {
      type: "object",
      description: "Object with the URL of the API.",
      required: ["apiVersion", "kind", "name"],
      "x-kubernetes-validations": [
        { rule: "has(oldSelf.apiVersion) == has(self.apiVersion)", message: "apiVersion is immutable" },
        { rule: "has(oldSelf.kind) == has(self.kind)", message: "kind is immutable" },
        { rule: "has(oldSelf.name) == has(self.name)", message: "name is immutable" },
      ],
      properties: {
        apiVersion: { type: "string", description: "API version of the object." },
        kind: { type: "string", description: "Kind of the object." },
        name: { type: "string", description: "Name of the object." },
        namespace: { type: "string", description: "Namespace of the object, if it has one." },
      },
    },
  },
} as const;

/**
 * kcp's Workspace (`tenancy.kcp.io/v1alpha1`): a name in a workspace for a logical cluster or a mount. Its type, cluster and mount
 * are immutable once set. The spec is defaulted.
 */
export const Workspace = kcpKind({
  group: "tenancy.kcp.io",
  kind: "Workspace",
  shortNames: ["ws"],
  description: "Separate Kubernetes-like API with its own kinds, objects and permissions.",
  names: SEGMENT_NAME,
  columns: {
    Type: { jsonPath: ".spec.type.name", description: "Type of the workspace." },
    Region: { jsonPath: ".metadata.labels['region']", description: "Region of the workspace." },
    Phase: { jsonPath: ".status.phase", description: "Phase of the workspace." },
    URL: { jsonPath: ".spec.URL", description: "URL of the workspace." },
  },
  required: ["spec"],
  spec: {
    type: "object",
    default: {},
    description: "Desired state of the workspace.",
    "x-kubernetes-validations": [
      { rule: "!has(oldSelf.URL) || has(self.URL)", message: "URL cannot be unset" },
      { rule: "!has(oldSelf.cluster) || has(self.cluster)", message: "cluster cannot be unset" },
    ],
    properties: {
      type: {
        ...TYPE_REFERENCE,
        description:
          "Type of the workspace, which determines its initialization. Immutable. Defaults to the child type of the parent's type.",
        "x-kubernetes-validations": [
          { rule: "self.name == oldSelf.name", message: "name is immutable" },
          { rule: "has(oldSelf.path) == has(self.path)", message: "path is immutable" },
          { rule: "!has(oldSelf.path) || !has(self.path) || self.path == oldSelf.path", message: "path is immutable" },
        ],
      },
      location: {
        type: "object",
        description: "Placement of the workspace. Any shard if missing.",
        properties: { selector: { ...LABEL_SELECTOR, description: "Selects allowed shards by label." } },
      },
      cluster: {
        type: "string",
        description: "Name of the logical cluster. Set by the server. Immutable.",
        "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "cluster is immutable" }],
      },
      URL: { type: "string", description: "URL of the workspace. Set by the server." },
      mount: MOUNT,
    },
  },
  status: {
    type: "object",
    default: {},
    description: "Observed state of the workspace.",
    properties: {
      phase: PHASE,
      conditions: CONDITIONS,
      initializers: INITIALIZERS,
      terminators: TERMINATORS,
    },
  },
});

/** Workspace as clients read it. */
export type Workspace = ObjectsOf<typeof Workspace>;

/** Desired state of a workspace. */
export type WorkspaceSpec = Workspace["spec"];

/** Observed state of a workspace. */
export type WorkspaceStatus = NonNullable<Workspace["status"]>;

/** Object that a workspace mounts instead of a logical cluster. */
export type WorkspaceMount = NonNullable<WorkspaceSpec["mount"]>;

/** Reference to a workspace type: its name, and the path of its workspace. */
export type WorkspaceTypeReference = NonNullable<WorkspaceSpec["type"]>;
