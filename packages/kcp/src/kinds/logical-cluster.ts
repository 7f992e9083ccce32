import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { INITIALIZERS, PHASE, TERMINATORS } from "./shared-schemas.ts";

/** Schema of the owner of a logical cluster, an object in another logical cluster. */
const OWNER = {
  type: "object",
  description: "Object that the logical cluster was created for, usually a Workspace.",
  required: ["apiVersion", "cluster", "name", "resource", "uid"],
  properties: {
    apiVersion: { type: "string", pattern: "^([^/]+/)?[^/]+$", description: "API version of the owner." },
    resource: { type: "string", minLength: 1, description: "Plural resource name of the owner: workspaces." },
    name: { type: "string", minLength: 1, description: "Name of the owner." },
    namespace: { type: "string", description: "Namespace of the owner, if it has one." },
    cluster: { type: "string", minLength: 1, description: "Logical cluster of the owner." },
    uid: { type: "string", description: "UID of the owner." },
  },
} as const;

/** Schema of an authenticated user (authentication.k8s.io UserInfo). */
const OWNER_USER = {
  type: "object",
  description: "User that created the logical cluster.",
  properties: {
    username: { type: "string", description: "Name of the user." },
    uid: { type: "string", description: "Distinguishes users that have the same name at different times." },
    groups: { type: "array", items: { type: "string" }, description: "Groups of the user." },
    extra: {
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
      description: "Additional attributes from authentication.",
    },
  },
} as const;

/**
 * kcp's LogicalCluster (`core.kcp.io/v1alpha1`): the only object with the name `cluster` in every logical cluster, with its owner
 * and phase. The spec is defaulted.
 */
export const LogicalCluster = kcpKind({
  group: "core.kcp.io",
  kind: "LogicalCluster",
  description: "Owner and phase of the logical cluster that contains it. The only object is named cluster.",
  names: { type: "string", enum: ["cluster"] },
  columns: {
    Phase: { jsonPath: ".status.phase", description: "Phase of the logical cluster." },
    URL: { jsonPath: ".status.URL", description: "URL of the logical cluster." },
  },
  required: [],
  spec: {
    type: "object",
    default: {},
    description: "Desired state of the logical cluster.",
    properties: {
      directlyDeletable: {
        type: "boolean",
        default: false,
        description:
          "Whether a client may delete the logical cluster through this object, and not only through its owner.",
      },
      owner: OWNER,
      createdBy: OWNER_USER,
      initializers: INITIALIZERS,
      terminators: TERMINATORS,
    },
  },
  status: {
    type: "object",
    default: {},
    description: "Observed state of the logical cluster.",
    properties: {
      URL: { type: "string", description: "URL of the logical cluster." },
      phase: PHASE,
      conditions: CONDITIONS,
      initializers: INITIALIZERS,
      terminators: TERMINATORS,
    },
  },
});

/** LogicalCluster as clients read it. */
export type LogicalCluster = ObjectsOf<typeof LogicalCluster>;

/** Desired state of a logical cluster. */
export type LogicalClusterSpec = LogicalCluster["spec"];

/** Observed state of a logical cluster. */
export type LogicalClusterStatus = NonNullable<LogicalCluster["status"]>;

/** Owner of a logical cluster: an object in another logical cluster, which is deleted after this one. */
export type LogicalClusterOwner = NonNullable<LogicalClusterSpec["owner"]>;

/** Phase of a logical cluster or workspace. */
export type LogicalClusterPhase = NonNullable<LogicalClusterStatus["phase"]>;
