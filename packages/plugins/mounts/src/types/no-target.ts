import type { NoTarget } from "@virtual-workspaces/kcp/targets";

/** A mount that leads nowhere for now. */
export function none(phase: NoTarget["phase"], reason: string, message: string): NoTarget {
  return { kind: "none", phase, reason, message };
}
