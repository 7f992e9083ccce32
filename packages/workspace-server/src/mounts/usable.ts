import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  getCondition,
  isConditionFalse,
  MOUNT_READY_CONDITION,
  mountNotReady,
  TENANCY_GROUP,
  type Workspace,
} from "@virtual-workspaces/kcp";
import type { Installation } from "../state/shard-registry.ts";
import { isMounted, type MountPlace, workspaceAt } from "../state/mounted-workspace.ts";

/**
 * Where the mounted workspace of a request leads, if it can be used: Ready, with a URL.
 *
 * @throws ApiError 404 when there is none, or for what is behind one; 503 with what keeps it from being used, and since when
 */
export function usableMount(installation: Installation, place: MountPlace): string {
  const workspace = workspaceAt(installation, place);
  const path = `${installation.pathOf(place.cluster) ?? place.cluster}:${place.name}`;
  if (workspace === undefined || !isMounted(workspace))
    throw ApiError.notFound({ group: TENANCY_GROUP, resource: "workspaces" }, path);
  if (place.below !== "")
    throw ApiError.notFoundPath(
      `the workspace ${path} is mounted, and what is behind a mount has no workspaces of this server: ask ${path} itself`,
    );
  const url = usableURL(workspace);
  if (url === undefined) throw unusable(workspace, path);
  return url;
}

/** Where a mounted workspace leads, while it may be used. */
export function usableURL({ spec, status }: Workspace): string | undefined {
  // The phase is written a moment after the condition.
  const isReady = status?.phase === "Ready" && !isConditionFalse(status.conditions, MOUNT_READY_CONDITION);
  return isReady && spec.URL ? spec.URL : undefined;
}

function unusable({ metadata, spec, status }: Workspace, path: string): ApiError {
  const { kind = "", name = "" } = spec.mount?.ref ?? {};
  const { phase = "Scheduling", conditions } = status ?? {};
  const condition = getCondition(conditions, MOUNT_READY_CONDITION);
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp ?? "";
  const why = condition?.message ? `: ${condition.message}` : "";
  return mountNotReady(
    `the workspace ${path} is mounted on ${kind} ${JSON.stringify(name)}, which is not ready: it is in the phase ${phase} since ${since}${why}`,
  );
}
