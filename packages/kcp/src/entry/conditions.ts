/**
 * Conditions of kcp's kinds, and their summary.
 *
 * @module
 */

export {
  CONDITIONS,
  type Condition,
  type ConditionSeverity,
  type ConditionState,
  deleteCondition,
  type FalseCondition,
  getCondition,
  isConditionFalse,
  isConditionTrue,
  isConditionUnknown,
  markFalse,
  markTrue,
  markUnknown,
  READY_CONDITION,
  type SummaryOptions,
  setCondition,
  setSummary,
  type UnknownCondition,
} from "../conditions.ts";
