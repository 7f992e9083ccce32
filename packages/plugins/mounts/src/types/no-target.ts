import type { NoTarget } from "@virtual-workspaces/kcp/targets";

/** Returns a mount without a target for now. */
export function none(phase: NoTarget["phase"], reason: string, message: string): NoTarget {
  return { kind: "none", phase, reason, message };
}
