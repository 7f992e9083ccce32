import { requestText, TransportError } from "../http/answer.ts";
import { CheckFailure, CheckSkipped, type FailureDetails } from "./expect.ts";
import type { CheckResult, ConformanceReport } from "./report.ts";

/** Description that every check has. */
export interface CheckInfo {
  /** Id of the check, such as `T1.1`. */
  readonly id: string;
  /** Behavior that holds when the check passes. */
  readonly title: string;
  /** Harm to users when the behavior does not hold. */
  readonly protects: string;
  /** Checks a promise of this project that Kubernetes itself does not make. Runs only with the option `strict`. @default false */
  readonly strict?: boolean;
}

/** One check on one resource or on the server, ready to run. */
export interface Task {
  readonly check: CheckInfo;
  /** Name of the resource in the report. @default none, the check is about the server */
  readonly resource: string | undefined;
  /** @throws CheckFailure, CheckSkipped */
  readonly run: () => Promise<void>;
}

/** Runs a check. Never rejects: every error becomes its result. */
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
    return result({ outcome: "skipped", reason: "beyond Kubernetes' behavior; use strict to check it" });
  try {
    await run();
    return result({ outcome: "passed" });
  } catch (thrown) {
    const error = firstOf(thrown);
    if (error instanceof CheckSkipped) return result({ outcome: "skipped", reason: error.message });
    return result({ outcome: "failed", failure: failureOf(error) });
  }
}

/** Returns the original error when the cleanup after it failed too. */
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

/** Counts results by outcome. */
export function countOf(
  results: readonly CheckResult[],
): Pick<ConformanceReport, "passed" | "failed" | "disturbed" | "skipped"> {
  const count = (outcome: CheckResult["outcome"]): number =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    disturbed: count("disturbed"),
    skipped: count("skipped"),
  };
}

/** Runs a function as soon as a slot is free. */
export type Slots = <T>(run: () => Promise<T>) => Promise<T>;

/** Returns a function that runs at most `count` calls at a time and queues the others in order. */
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
      // The slot passes directly to the next caller, so that no other call takes it in between.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
