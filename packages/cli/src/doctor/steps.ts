/** What keeps a step from being well, and what can be done about it: a command to type, where there is one. */
export class StepFailure extends Error {
  override readonly name = "Fault";
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

/** Nothing can be said, and why: the rest goes on. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** One thing that has to be so. Each may lean on those before it, which were well. */
export interface Step<Context> {
  readonly title: string;
  /** @returns what was found @throws Fault, Skipped */
  run(context: Context): Promise<string>;
}

/** How a step went. */
export interface StepResult {
  readonly title: string;
  readonly result: "ok" | "failed" | "skipped";
  readonly detail: string;
  readonly remedy?: string;
}

/** Takes the steps one by one, up to the first that fails. @param told of each when it has been taken @returns whether all is well */
export async function examine<C>(
  steps: readonly Step<C>[],
  context: C,
  told: (result: StepResult) => void,
): Promise<boolean> {
  for (const { title, run } of steps) {
    try {
      told({ title, result: "ok", detail: await run(context) });
    } catch (error) {
      if (error instanceof Skipped) told({ title, result: "skipped", detail: error.message });
      else if (error instanceof StepFailure) {
        told({ title, result: "failed", detail: error.message, remedy: error.remedy });
        return false;
      } else throw error;
    }
  }
  return true;
}
