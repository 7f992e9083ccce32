import { formatTime } from "@virtual-workspaces/apimachinery";

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

/** The schema of a list of conditions, as every status of kcp's has one. */
export const CONDITIONS = {
  type: "array",
  description: "What was observed of the object, Ready first.",
  items: {
    type: "object",
    description: "Something observed of the object.",
    required: ["lastTransitionTime", "status", "type"],
    properties: {
      type: { type: "string", description: "What was observed, in CamelCase; one of each." },
      status: { type: "string", description: "Whether it holds: True, False or Unknown." },
      severity: { type: "string", description: "How bad it is that it does not hold: Error, Warning or Info." },
      lastTransitionTime: {
        type: "string",
        format: "date-time",
        description: "When anything else of the condition changed last.",
      },
      reason: { type: "string", description: "Why, in one CamelCase word for programs." },
      message: { type: "string", description: "Why, in words for people." },
    },
  },
} as const;

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

/** What sums conditions up: {@link setSummary}. */
export interface SummaryOptions {
  /** When a change of Ready is said to have been. */
  readonly now: Date;
  /**
   * Only these types count (kcp's `conditions.WithConditions`). Of several that are as bad as each other, the one that is
   * named first gives reason and message. @default all but Ready, by type
   */
  readonly types?: readonly string[];
}

/**
 * The conditions with `Ready` as the sum of the others (kcp's `conditions.SetSummary`). The worst decides: False as an
 * Error, as a Warning, as Info, then True, then Unknown; so one that is True hides those of which nothing is known. Ready
 * is as the worst is, with its severity, reason and message. Where no condition counts, Ready stays as it was.
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

/** The less, the more it counts. A False that does not say how bad it is counts least, as in kcp. */
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

/** The state of a condition that holds: it has neither severity nor reason nor message. */
function trueState(type: string): ConditionState {
  return { type, status: "True" };
}

/** The state of one that does not. */
function falseState({ type, severity, reason, message }: FalseCondition): ConditionState {
  return { type, status: "False", severity, reason, message };
}

/** The state of one that nobody knows. */
function unknownState({ type, reason, message }: UnknownCondition): ConditionState {
  return { type, status: "Unknown", reason, message };
}

/** Whether two conditions say the same, whenever they began to. What is missing is empty. */
function sameState(one: ConditionState, other: ConditionState): boolean {
  return (
    one.type === other.type &&
    one.status === other.status &&
    (one.reason ?? "") === (other.reason ?? "") &&
    (one.severity ?? "") === (other.severity ?? "") &&
    (one.message ?? "") === (other.message ?? "")
  );
}

/** The order of conditions for those who read them: Ready first, then by type. */
function compareConditions({ type: one }: ConditionState, { type: other }: ConditionState): number {
  if (one === other) return 0;
  if (one === READY_CONDITION) return -1;
  if (other === READY_CONDITION) return 1;
  return one < other ? -1 : 1;
}

/** A condition as it is sent: members in kcp's order, empty ones left out. */
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
