import type { Condition } from "./condition.ts";

/** The condition of a type (kcp's `conditions.Get`); undefined if the object has none. */
export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether a condition is there and `True` (kcp's `conditions.IsTrue`). */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === "True";
}

/** Whether a condition is there and `False` (kcp's `conditions.IsFalse`). */
export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === "False";
}

/** Whether a condition is `Unknown` or not there (kcp's `conditions.IsUnknown`). */
export function isConditionUnknown(conditions: readonly Condition[] | undefined, type: string): boolean {
  return (getCondition(conditions, type)?.status ?? "Unknown") === "Unknown";
}
