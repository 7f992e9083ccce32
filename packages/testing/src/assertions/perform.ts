import { requestText, TransportError } from "../http/answer.ts";
import { CheckFailure, CheckSkipped, type FailureDetails } from "./expect.ts";
import type { CheckResult, ConformanceReport } from "./report.ts";

/** What every check says of itself. */
export interface CheckInfo {
  /** `T1.1`. */
  readonly id: string;
  /** What holds when it passes. */
  readonly title: string;
  /** What users suffer when it does not hold. */
  readonly protects: string;
  /** Holds of what this project promises, not of Kubernetes itself: run only when asked for. @default false */
  readonly strict?: boolean;
}

/** A check, and what it is made of. */
export interface Task {
  readonly check: CheckInfo;
  /** As it is told. @default it is about the server */
  readonly resource: string | undefined;
  /** @throws CheckFailure, CheckSkipped */
  readonly run: () => Promise<void>;
}

/** Makes a check. Never rejects: whatever goes wrong is its result. */
export async function perform(
  { check, resource, run }: Task,
  { strict = false }: { readonly strict?: boolean | undefined } = {},
): Promise<CheckResult> {
  const startedAt = performance.now();
  const { id, title, protects } = check;
  const about = { id, title, protects, resource };
  const result = (rest: Pick<CheckResult, "outcome" | "reason" | "failure">): CheckResult => ({
    ...about,
    ...rest,
    duration: Math.round(performance.now() - startedAt),
  });
  if (check.strict === true && !strict)
    return result({ outcome: "skipped", reason: "beyond what Kubernetes does; checked with strict" });
  try {
    await run();
    return result({ outcome: "passed" });
  } catch (thrown) {
    const error = firstOf(thrown);
    if (error instanceof CheckSkipped) return result({ outcome: "skipped", reason: error.message });
    return result({ outcome: "failed", failure: failureOf(error) });
  }
}

/** What went wrong first, where cleaning up after it went wrong too. */
function firstOf(error: unknown): unknown {
  return error instanceof Error && error.name === "SuppressedError"
    ? firstOf((error as SuppressedError).suppressed)
    : error;
}

function failureOf(error: unknown): FailureDetails {
  if (error instanceof CheckFailure) return error.details;
  if (error instanceof TransportError)
    return { request: requestText(error.request), expected: "an answer", actual: error.reason };
  const actual = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { request: "none", expected: "the check and its mutate hooks to run", actual };
}

/** How many of them came out how. */
export function countOf(results: readonly CheckResult[]): Pick<ConformanceReport, "passed" | "failed" | "skipped"> {
  const count = (outcome: CheckResult["outcome"]): number =>
    results.filter((result) => result.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

/** Runs what it is given when there is a place for it. */
export type Slots = <T>(run: () => Promise<T>) => Promise<T>;

/** A function that runs what it is given, `count` at a time, the rest in the order they came. */
export function limited(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      // The slot is handed on rather than freed, so that nobody gets in between.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
