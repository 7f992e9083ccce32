import { requestText } from "../http/answer.ts";
import { TransportError } from "../http/transport-error.ts";
import type { CheckInfo } from "./check.ts";
import { CheckFailure, CheckSkipped, type FailureDetails } from "./outcome.ts";
import type { CheckResult, ConformanceReport } from "./report.ts";

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
