/** Failure of a step, with its remedy: a command to run, if there is one. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

/** A step that cannot decide, with the reason. The following steps still run. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** A condition to check. It may rely on the steps before it, which succeeded. */
export interface Step<Context> {
  readonly title: string;
  /** Checks the condition. @returns the finding @throws StepFailure, Skipped */
  run(context: Context): Promise<string>;
}

/** Result of a step. */
export interface StepResult {
  readonly title: string;
  readonly result: "ok" | "failed" | "skipped";
  readonly detail: string;
  readonly remedy?: string;
}

/** Runs the steps in order until one fails. @param onResult called with each result @returns whether all succeeded */
export async function examine<C>(
  steps: readonly Step<C>[],
  context: C,
  onResult: (result: StepResult) => void,
): Promise<boolean> {
  for (const { title, run } of steps) {
    try {
      onResult({ title, result: "ok", detail: await run(context) });
    } catch (error) {
      if (error instanceof Skipped) onResult({ title, result: "skipped", detail: error.message });
      else if (error instanceof StepFailure) {
        onResult({ title, result: "failed", detail: error.message, remedy: error.remedy });
        return false;
      } else throw error;
    }
  }
  return true;
}
