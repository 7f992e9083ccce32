import { isDeepStrictEqual } from "node:util";
import {
  clusterURL,
  INITIALIZER_LABEL_PREFIX,
  initializerLabel,
  type LogicalCluster,
  type LogicalClusterStatus,
  markFalse,
  markTrue,
  PHASE_LABEL,
  TERMINATOR_LABEL_PREFIX,
  TERMINATORS_FINALIZER,
  terminatorLabel,
} from "@virtual-workspaces/kcp";
import { isInactive } from "../../state/shard-registry.ts";
import { withOwnersName } from "../model/owner.ts";
import { begun, phaseOf } from "../model/phases.ts";

/** What a logical cluster is to say of itself. */
export interface LogicalClusterFacts {
  /** Its name. */
  readonly cluster: string;
  /** Where users reach its shard. */
  readonly externalURL: string;
  readonly now: Date;
}

/** The same with the labels and finalizers that its status makes: views and the deletion find it by them. */
export function labelled(cluster: LogicalCluster): LogicalCluster {
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
  // What is being deleted takes no new ones.
  return has || metadata.deletionTimestamp !== undefined ? [...before] : [...before, TERMINATORS_FINALIZER];
}

/** The same in the phase that follows from what it says, and with where it is reached. */
export function advanced(cluster: LogicalCluster, facts: LogicalClusterFacts): LogicalCluster {
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
