/** Something observed of an object (kcp's `conditions/v1alpha1` Condition, which has a severity besides Kubernetes'). */
export interface Condition {
  /** In CamelCase, one of each in an object: `Ready`, `WorkspaceScheduled`. */
  type: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  /** How bad it is: {@link ConditionSeverity}. Only when the status is `False`. */
  severity?: string;
  /** When anything else of the condition changed last, RFC 3339 in whole seconds. */
  lastTransitionTime: string;
  /** Why, in one CamelCase word for programs. */
  reason?: string;
  /** Why, in words for people. */
  message?: string;
}

/** How bad it is that a condition does not hold: an `Error` needs somebody, a `Warning` may, `Info` just takes time. */
export type ConditionSeverity = "Error" | "Warning" | "Info";

/** The type of the condition that sums up the others (kcp's ReadyCondition). */
export const READY_CONDITION = "Ready";

/** A condition, but for its time. */
export type ConditionState = Omit<Condition, "lastTransitionTime">;

/** What a caller says of a condition that does not hold. */
export interface FalseCondition {
  readonly type: string;
  readonly reason: string;
  readonly severity: ConditionSeverity;
  readonly message: string;
}

/** What a caller says of a condition of which nothing is known. */
export type UnknownCondition = Omit<FalseCondition, "severity">;

/** The state of a condition that holds: it has neither severity nor reason nor message. */
export function trueState(type: string): ConditionState {
  return { type, status: "True" };
}

/** The state of one that does not. */
export function falseState({ type, severity, reason, message }: FalseCondition): ConditionState {
  return { type, status: "False", severity, reason, message };
}

/** The state of one that nobody knows. */
export function unknownState({ type, reason, message }: UnknownCondition): ConditionState {
  return { type, status: "Unknown", reason, message };
}

/** Whether two conditions say the same, whenever they began to. What is missing is empty. */
export function sameState(one: ConditionState, other: ConditionState): boolean {
  return (
    one.type === other.type &&
    one.status === other.status &&
    (one.reason ?? "") === (other.reason ?? "") &&
    (one.severity ?? "") === (other.severity ?? "") &&
    (one.message ?? "") === (other.message ?? "")
  );
}

/** The order of conditions for those who read them: Ready first, then by type. */
export function compareConditions({ type: one }: ConditionState, { type: other }: ConditionState): number {
  if (one === other) return 0;
  if (one === READY_CONDITION) return -1;
  if (other === READY_CONDITION) return 1;
  return one < other ? -1 : 1;
}

/** A condition as it is sent: members in kcp's order, empty ones left out. */
export function conditionAt(state: ConditionState, lastTransitionTime: string): Condition {
  const { type, status, severity = "", reason = "", message = "" } = state;
  return {
    type,
    status,
    ...(severity !== "" && { severity }),
    lastTransitionTime,
    ...(reason !== "" && { reason }),
    ...(message !== "" && { message }),
  };
}
