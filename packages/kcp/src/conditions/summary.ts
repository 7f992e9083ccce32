import {
  type Condition,
  type ConditionState,
  compareConditions,
  READY_CONDITION,
  trueState,
  unknownState,
} from "./condition.ts";
import { getCondition } from "./get.ts";
import { setCondition } from "./set.ts";

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
