import { MOUNT_READY_CONDITION, markFalse } from "@virtual-workspaces/kcp";
import { GO_ON, type Step } from "./step.ts";

/**
 * Says of a mounted workspace that it leads nowhere where the server does without mounts: else it would look as it did when somebody
 * kept it right. Where there are mounts a controller of their own says how it is, and this one makes the phase of that.
 */
export const mountStep: Step = (workspace, { shard, now }) => {
  const { metadata, spec, status = {} } = workspace;
  if (spec.mount === undefined || shard.mounts !== false || metadata.deletionTimestamp !== undefined) return GO_ON;
  const message = "mounted workspaces are turned off: start the server with the feature gate WorkspaceMounts";
  const condition = { type: MOUNT_READY_CONDITION, reason: "FeatureGateDisabled", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
};
