import { formatTime } from "@virtual-workspaces/apimachinery";
import type { CrdCondition, CrdConditionType, CrdStatus } from "./definition.ts";

/** The condition of a type, if there is one. */
export function conditionOf(status: CrdStatus | undefined, type: CrdConditionType): CrdCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether a condition is there and `True`. */
export function hasCondition(status: CrdStatus | undefined, type: CrdConditionType): boolean {
  return conditionOf(status, type)?.status === "True";
}

/** A status with a condition in the place of the one of its type; its time moves when its status does. */
export function withCondition(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const { conditions = [] } = status;
  const old = conditionOf(status, condition.type);
  const same = old !== undefined && old.status === condition.status && old.lastTransitionTime !== undefined;
  const next = { ...condition, lastTransitionTime: same ? old.lastTransitionTime : formatTime(now) };
  if (old === undefined) return { ...status, conditions: [...conditions, next] };
  return { ...status, conditions: conditions.map((one) => (one === old ? next : one)) };
}

/** The same, unless it says so already. */
export function marked(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const old = conditionOf(status, condition.type);
  const { reason, message, status: value } = condition;
  const same = old?.status === value && old.reason === reason && old.message === message;
  return same ? status : withCondition(status, condition, now);
}
