import { clusterURL, type Mount, type MountStatus, viewURL } from "@virtual-workspaces/kcp";
import { markFalse, markTrue, markUnknown, setSummary } from "@virtual-workspaces/kcp/conditions";
import type { ServedUrls } from "@virtual-workspaces/kcp/informers";
import type { NoTarget, Target } from "@virtual-workspaces/kcp/targets";
import { none } from "../types/no-target.ts";

/** The condition that says whether a mount leads anywhere. */
const REACHABLE = "Reachable";

/** What is known of a mount. */
export interface ObservedMount {
  readonly cluster: string;
  readonly target: Target | NoTarget;
  readonly urls: ServedUrls | undefined;
  readonly now: Date;
}

const UNKNOWN_URL = none(
  "Initializing",
  "URLUnknown",
  "where this server serves its views is not known yet: see its Shard",
);

/** The status of a mount: Ready together with its URL, or neither, since controllers of others look at both. */
export function statusOf({ metadata, status }: Mount, { cluster, target, urls, now }: ObservedMount): MountStatus {
  const problem = target.kind === "none" ? target : urls === undefined ? UNKNOWN_URL : undefined;
  const url =
    target.kind === "none" || urls === undefined ? status?.URL : urlOf(metadata.name ?? "", { cluster, target, urls });
  const conditions = setSummary(conditionOf(status, problem, now), { now });
  return {
    ...status,
    phase: problem?.phase ?? "Ready",
    conditions,
    // The contract of mount objects has it in capitals, the proposal does not.
    ...(url !== undefined && { URL: url, url }),
  };
}

function urlOf(
  name: string,
  at: { readonly cluster: string; readonly target: Target; readonly urls: ServedUrls },
): string {
  const { cluster, target, urls } = at;
  if (target.kind === "workspace") return clusterURL(urls.clusters, target.path);
  return viewURL(urls.services, "mounts", cluster, name);
}

function conditionOf(
  status: MountStatus | undefined,
  problem: NoTarget | undefined,
  now: Date,
): NonNullable<MountStatus["conditions"]> {
  const { conditions } = status ?? {};
  if (problem === undefined) return markTrue(conditions, REACHABLE, now);
  const { reason, message, phase } = problem;
  if (phase === "Initializing") return markUnknown(conditions, { type: REACHABLE, reason, message }, now);
  return markFalse(conditions, { type: REACHABLE, severity: "Error", reason, message }, now);
}
