import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { INITIALIZERS, PHASE, TERMINATORS } from "./shared-schemas.ts";

/** Whose a logical cluster is, which is an object in another one. */
const OWNER = {
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
const OWNER_USER = {
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

/**
 * kcp's LogicalCluster (`core.kcp.io/v1alpha1`): the one object named `cluster` in every logical cluster, which says who it
 * belongs to and where it is in its life. Its spec is there even if nobody gave one.
 */
export const LogicalCluster = kcpKind({
  group: "core.kcp.io",
  kind: "LogicalCluster",
  description:
    "The logical cluster that it is in: whose it is, and where it is in its life. There is one, named cluster.",
  names: { type: "string", enum: ["cluster"] },
  columns: {
    Phase: { jsonPath: ".status.phase", description: "Where it is in its life." },
    URL: { jsonPath: ".status.URL", description: "Where it is served." },
  },
  required: [],
  spec: {
    type: "object",
    default: {},
    description: "What the logical cluster is to be.",
    properties: {
      directlyDeletable: {
        type: "boolean",
        default: false,
        description: "Whether it may be deleted by this object, and not only by its owner.",
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
    description: "What the logical cluster is.",
    properties: {
      URL: { type: "string", description: "Where it is served." },
      phase: PHASE,
      conditions: CONDITIONS,
      initializers: INITIALIZERS,
      terminators: TERMINATORS,
    },
  },
});

/** A logical cluster, as it is read. */
export type LogicalCluster = ObjectsOf<typeof LogicalCluster>;

/** What a logical cluster is to be. */
export type LogicalClusterSpec = LogicalCluster["spec"];

/** What a logical cluster is. */
export type LogicalClusterStatus = NonNullable<LogicalCluster["status"]>;

/** Whose a logical cluster is: the object, in another logical cluster, that is deleted when this one is gone. */
export type LogicalClusterOwner = NonNullable<LogicalClusterSpec["owner"]>;

/** Where a logical cluster or workspace is in its life. */
export type LogicalClusterPhase = NonNullable<LogicalClusterStatus["phase"]>;
