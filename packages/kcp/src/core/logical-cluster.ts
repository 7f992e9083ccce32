import { CONDITIONS } from "../conditions/schema.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { OWNER, OWNER_USER } from "./owner.ts";
import { INITIALIZERS, PHASE, TERMINATORS } from "./phases.ts";

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
