import { formatTime } from "@virtual-workspaces/apimachinery";

/** Observation about an object (kcp's `conditions/v1alpha1` Condition, which adds a severity to Kubernetes' fields). */
export interface Condition {
  /** Name in CamelCase, unique in the object: `Ready`, `WorkspaceScheduled`. */
  type: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  /** Severity of a condition with the status `False`: {@link ConditionSeverity}. */
  severity?: string;
  /** Time of the last change of another field of the condition, RFC 3339 in whole seconds. */
  lastTransitionTime: string;
  /** Reason for programs, one CamelCase word. */
  reason?: string;
  /** Explanation for people. */
  message?: string;
}

/** Severity of a `False` condition: `Error` needs action, `Warning` may need action, `Info` resolves itself in time. */
export type ConditionSeverity = "Error" | "Warning" | "Info";

/** Type of the condition that summarizes the others (kcp's ReadyCondition). */
export const READY_CONDITION = "Ready";

/** Condition without its time. */
export type ConditionState = Omit<Condition, "lastTransitionTime">;

/** Fields of a condition that the caller sets to `False`. */
export interface FalseCondition {
  readonly type: string;
  readonly reason: string;
  readonly severity: ConditionSeverity;
  readonly message: string;
}

/** Fields of a condition that the caller sets to `Unknown`. */
export type UnknownCondition = Omit<FalseCondition, "severity">;

/** Schema of the list of conditions in the status of kcp's kinds. */
export const CONDITIONS = {
  type: "array",
  description: "Conditions of the object, Ready first.",
  items: {
    type: "object",
    description: "Observation about the object.",
    required: ["lastTransitionTime", "status", "type"],
    properties: {
      type: { type: "string", description: "Type of the condition in CamelCase, unique in the list." },
      status: { type: "string", description: "Status of the condition: True, False or Unknown." },
      severity: { type: "string", description: "Severity of a condition that is False: Error, Warning or Info." },
      lastTransitionTime: {
        type: "string",
        format: "date-time",
        description: "Time of the last change of another field of the condition.",
      },
      reason: { type: "string", description: "Reason for programs, one CamelCase word." },
      message: { type: "string", description: "Explanation for people." },
    },
  },
} as const;

/** Returns the condition of a type, undefined if the object has none (kcp's `conditions.Get`). */
export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Returns whether a condition exists and is `True` (kcp's `conditions.IsTrue`). */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === "True";
}

/** Returns whether a condition exists and is `False` (kcp's `conditions.IsFalse`). */
export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === "False";
}

/** Returns whether a condition is `Unknown` or missing (kcp's `conditions.IsUnknown`). */
export function isConditionUnknown(conditions: readonly Condition[] | undefined, type: string): boolean {
  return (getCondition(conditions, type)?.status ?? "Unknown") === "Unknown";
}

/**
 * Returns the conditions with one of them set, Ready first and the others by type (kcp's `conditions.Set`). The input stays
 * unchanged. The condition's time becomes `now` if another field changed, else it stays. A new condition may bring its own time,
 * for example a copy of another object's condition.
 *
 * @param now Time of the change
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

/** Sets a condition to `True` without severity, reason or message, like {@link setCondition} (kcp's `conditions.MarkTrue`). */
export function markTrue(conditions: readonly Condition[] | undefined, type: string, now: Date): Condition[] {
  return setCondition(conditions, trueState(type), now);
}

/** Sets a condition to `False` with a reason, like {@link setCondition} (kcp's `conditions.MarkFalse`). */
export function markFalse(
  conditions: readonly Condition[] | undefined,
  condition: FalseCondition,
  now: Date,
): Condition[] {
  return setCondition(conditions, falseState(condition), now);
}

/** Sets a condition to `Unknown` with a reason but no severity, like {@link setCondition} (kcp's `conditions.MarkUnknown`). */
export function markUnknown(
  conditions: readonly Condition[] | undefined,
  condition: UnknownCondition,
  now: Date,
): Condition[] {
  return setCondition(conditions, unknownState(condition), now);
}

/** Returns the conditions without that of a type (kcp's `conditions.Delete`). The input stays unchanged. */
export function deleteCondition(conditions: readonly Condition[] | undefined, type: string): Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

/** Options of {@link setSummary}. */
export interface SummaryOptions {
  /** Time of a change of Ready. */
  readonly now: Date;
  /**
   * Types to summarize (kcp's `conditions.WithConditions`). Of conditions that are equally bad, the first type in this list
   * provides reason and message.
   * @default all but Ready, by type
   */
  readonly types?: readonly string[];
}

/**
 * Returns the conditions with `Ready` as the summary of the others (kcp's `conditions.SetSummary`). The first of these decides:
 * False as Error, as Warning, as Info, then True, then Unknown. One True condition therefore hides those that are Unknown. Ready
 * copies status, severity, reason and message. Without any condition to summarize, Ready stays unchanged.
 */
export function setSummary(conditions: readonly Condition[] | undefined, options: SummaryOptions): Condition[] {
  const summary = summaryOf(conditions ?? [], options.types);
  return summary === undefined ? [...(conditions ?? [])] : setCondition(conditions, summary, options.now);
}

function summaryOf(conditions: readonly Condition[], types: readonly string[] | undefined): ConditionState | undefined {
  const counting = conditions.filter(
    ({ type }) => type !== READY_CONDITION && (types === undefined || types.includes(type)),
  );
  const least = Math.min(...counting.map(weight));
  const worst = counting.find((condition) => weight(condition) === least);
  if (worst === undefined) return undefined;
  const { status, severity = "" } = worst;
  if (status === "True") return trueState(READY_CONDITION);
  const as = counting.filter((other) => other.status === status && (other.severity ?? "") === severity);
  const { reason = "", message = "" } = first(as.sort(compareConditions), types) ?? worst;
  return status === "False"
    ? { type: READY_CONDITION, status, severity, reason, message }
    : unknownState({ type: READY_CONDITION, reason, message });
}

function first(conditions: readonly Condition[], types: readonly string[] = []): Condition | undefined {
  for (const wanted of types) {
    const found = getCondition(conditions, wanted);
    if (found !== undefined) return found;
  }
  return conditions[0];
}

/** Returns the rank of a condition; the smallest decides. As in kcp, False without a severity ranks last. */
function weight({ status, severity = "" }: Condition): number {
  switch (status) {
    case "False":
      return SEVERITIES.get(severity) ?? LEAST;
    case "True":
      return 3;
    case "Unknown":
      return 4;
    default:
      return LEAST;
  }
}

const SEVERITIES: ReadonlyMap<string, number> = new Map([
  ["Error", 0],
  ["Warning", 1],
  ["Info", 2],
]);

const LEAST = 99;

/** Returns the state of a True condition, which has no severity, reason or message. */
function trueState(type: string): ConditionState {
  return { type, status: "True" };
}

/** Returns the state of a False condition. */
function falseState({ type, severity, reason, message }: FalseCondition): ConditionState {
  return { type, status: "False", severity, reason, message };
}

/** Returns the state of an Unknown condition. */
function unknownState({ type, reason, message }: UnknownCondition): ConditionState {
  return { type, status: "Unknown", reason, message };
}

/** Returns whether two conditions are equal except for their time. Missing fields count as empty. */
function sameState(one: ConditionState, other: ConditionState): boolean {
  return (
    one.type === other.type &&
    one.status === other.status &&
    (one.reason ?? "") === (other.reason ?? "") &&
    (one.severity ?? "") === (other.severity ?? "") &&
    (one.message ?? "") === (other.message ?? "")
  );
}

/** Orders conditions for readers: Ready first, then by type. */
function compareConditions({ type: one }: ConditionState, { type: other }: ConditionState): number {
  if (one === other) return 0;
  if (one === READY_CONDITION) return -1;
  if (other === READY_CONDITION) return 1;
  return one < other ? -1 : 1;
}

/** Builds a condition with fields in kcp's order and without empty ones. */
function conditionAt(state: ConditionState, lastTransitionTime: string): Condition {
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
