import { isDeepStrictEqual } from "node:util";
import { clusterURL, type LogicalCluster, type LogicalClusterStatus } from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import {
  INITIALIZER_LABEL_PREFIX,
  initializerLabel,
  PHASE_LABEL,
  TERMINATOR_LABEL_PREFIX,
  TERMINATORS_FINALIZER,
  terminatorLabel,
} from "@virtual-workspaces/kcp/names";
import { isInactive } from "../../state/unavailable.ts";
import { withOwnersName } from "./owner.ts";
import { begun, phaseOf } from "./phases.ts";

/** Facts that the LogicalCluster's status shows. */
export interface LogicalClusterFacts {
  /** Name of the logical cluster. */
  readonly cluster: string;
  /** External URL of its shard. */
  readonly externalURL: string;
  readonly now: Date;
}

/** Returns a logical cluster with the phase and conditions that follow from its state, and with the labels and finalizers of these. */
export function nextState(cluster: LogicalCluster, facts: LogicalClusterFacts): LogicalCluster {
  return labelled(advanced(cluster, facts));
}

/** Returns the object with the labels and finalizers of its status, by which views and the deletion find it. */
function labelled(cluster: LogicalCluster): LogicalCluster {
  const { metadata, status = {} } = cluster;
  const isOurs = (key: string): boolean =>
    key.startsWith(INITIALIZER_LABEL_PREFIX) || key.startsWith(TERMINATOR_LABEL_PREFIX);
  const others = Object.entries(metadata.labels ?? {}).filter(([key]) => !isOurs(key));
  const holders = [
    ...(status.initializers ?? []).map(initializerLabel),
    ...(status.terminators ?? []).map(terminatorLabel),
  ].map(({ key, value }) => [key, value] as const);
  const labels = { ...Object.fromEntries([...others, ...holders]), [PHASE_LABEL]: phaseOf(cluster) };
  const before = metadata.finalizers ?? [];
  const finalizers = finalizersOf(cluster, before);
  const annotations = phaseOf(cluster) === "Ready" ? withOwnersName(metadata.annotations) : metadata.annotations;
  const next = { ...metadata, labels, finalizers, ...(annotations !== undefined && { annotations }) };
  return isDeepStrictEqual(next, { ...metadata, finalizers: before }) ? cluster : { ...cluster, metadata: next };
}

function finalizersOf({ metadata, status }: LogicalCluster, before: readonly string[]): string[] {
  const others = before.filter((each) => each !== TERMINATORS_FINALIZER);
  if ((status?.terminators ?? []).length === 0) return others;
  const has = others.length < before.length;
  // An object under deletion accepts no new finalizer.
  return has || metadata.deletionTimestamp !== undefined ? [...before] : [...before, TERMINATORS_FINALIZER];
}

/** Returns the object with its next phase and its URL. */
function advanced(cluster: LogicalCluster, facts: LogicalClusterFacts): LogicalCluster {
  const next = begun(cluster);
  const status = { ...next.status, ...statusOf(next, facts), URL: clusterURL(facts.externalURL, facts.cluster) };
  return { ...next, status };
}

function statusOf(cluster: LogicalCluster, { now }: LogicalClusterFacts): LogicalClusterStatus {
  const { status = {}, metadata } = cluster;
  const { conditions, initializers = [], terminators = [] } = status;
  if (metadata.deletionTimestamp !== undefined) return { phase: terminators.length > 0 ? "Terminating" : "Deleting" };
  switch (phaseOf(cluster)) {
    case "Initializing": {
      if (initializers.length === 0)
        return { phase: "Ready", conditions: markTrue(conditions, "WorkspaceInitialized", now) };
      const message = `Initializers still exist: [${initializers.join(" ")}]`;
      const of = { type: "WorkspaceInitialized", reason: "InitializerExists", severity: "Info", message } as const;
      return { conditions: markFalse(conditions, of, now) };
    }
    case "Ready":
      return isInactive(cluster) ? { phase: "Inactive" } : {};
    case "Inactive":
      return isInactive(cluster) ? {} : { phase: "Ready" };
    default:
      return {};
  }
}
