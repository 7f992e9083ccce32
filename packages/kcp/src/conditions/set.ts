import { formatTime } from "@virtual-workspaces/apimachinery";
import {
  type Condition,
  type ConditionState,
  compareConditions,
  conditionAt,
  type FalseCondition,
  falseState,
  sameState,
  trueState,
  type UnknownCondition,
  unknownState,
} from "./condition.ts";

/**
 * The conditions with one of them set, Ready first and the others by type (kcp's `conditions.Set`). What is given is left
 * as it is. The time is `now` if the condition changed in anything else, and stays if it did not; that of a new condition
 * may come with it, as when the condition of another object is copied.
 *
 * @param now When the change is said to have been
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: ConditionState & Partial<Pick<Condition, "lastTransitionTime">>,
  now: Date,
): Condition[] {
  const next = [...(conditions ?? [])];
  const at = next.findIndex(({ type }) => type === condition.type);
  const before = next[at];
  if (before === undefined) next.push(conditionAt(condition, condition.lastTransitionTime ?? formatTime(now)));
  else if (!sameState(before, condition)) next[at] = conditionAt(condition, formatTime(now));
  return next.sort(compareConditions);
}

/** {@link setCondition} to `True` (kcp's `conditions.MarkTrue`): without severity, reason or message. */
export function markTrue(conditions: readonly Condition[] | undefined, type: string, now: Date): Condition[] {
  return setCondition(conditions, trueState(type), now);
}

/** {@link setCondition} to `False`, and why (kcp's `conditions.MarkFalse`). */
export function markFalse(
  conditions: readonly Condition[] | undefined,
  condition: FalseCondition,
  now: Date,
): Condition[] {
  return setCondition(conditions, falseState(condition), now);
}

/** {@link setCondition} to `Unknown`, and why (kcp's `conditions.MarkUnknown`): without severity. */
export function markUnknown(
  conditions: readonly Condition[] | undefined,
  condition: UnknownCondition,
  now: Date,
): Condition[] {
  return setCondition(conditions, unknownState(condition), now);
}

/** The conditions without that of a type (kcp's `conditions.Delete`). What is given is left as it is. */
export function deleteCondition(conditions: readonly Condition[] | undefined, type: string): Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
