/** Failure of a step, with its remedy. */
export class StepFailure extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** A step that cannot decide, with the reason. The following steps still run. */
export class Skipped extends Error {}

/** A condition to check. It may rely on the steps before it, which succeeded. */
export interface Step {
  readonly title: string;
  /** Returns the finding. Throws a StepFailure, a Skipped, or any other error, which is a failure too. */
  run(signal: AbortSignal): Promise<string> | string;
}

/** Subject of checks: the server, a workspace, a view. */
export interface Subject {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Whether a failure leaves the following steps out, which rely on it. Default: yes. */
  readonly stops?: boolean;
}

export interface StepResult {
  readonly subject: string;
  readonly title: string;
  readonly result: "ok" | "failed" | "skipped";
  readonly detail: string;
  readonly remedy?: string;
}

/** Runs the steps of all subjects, one after the other. Of a subject the first failure is the last result, unless its steps are independent. */
export async function* examine(subjects: readonly Subject[], signal: AbortSignal): AsyncGenerator<StepResult> {
  for (const { name: subject, steps, stops = true } of subjects)
    for (const { title, run } of steps) {
      const one = await resultOf(() => run(signal));
      if (signal.aborted) return;
      yield { subject, title, ...one };
      if (one.result === "failed" && stops) break;
    }
}

async function resultOf(run: () => Promise<string> | string): Promise<Omit<StepResult, "subject" | "title">> {
  try {
    return { result: "ok", detail: await run() };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (error instanceof Skipped) return { result: "skipped", detail };
    return { result: "failed", detail, ...(error instanceof StepFailure && { remedy: error.remedy }) };
  }
}
