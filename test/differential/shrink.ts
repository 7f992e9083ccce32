// Shrinks a failing case to the steps that are necessary for the failure.
import type { Case, Step } from "./step.ts";

/** Returns the smallest failing case found by removing steps. */
export async function shrink(whole: Case, fails: (smaller: Case) => Promise<boolean>): Promise<Case> {
  let steps = whole.steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length; ) {
      const fewer = [...steps.slice(0, at), ...steps.slice(at + size)];
      if (isWhole(fewer) && (await fails({ ...whole, steps: fewer }))) steps = fewer;
      else at += size;
    }
  }
  return { ...whole, steps };
}

/** Returns whether each read has its watch, and each watch that ends with an object has that object. */
function isWhole(steps: readonly Step[]): boolean {
  const sent = JSON.stringify(
    steps.filter((step) => "send" in step && step.send.startsWith("POST")),
    plain,
  );
  return steps.every((step) => {
    if (!("read" in step)) return true;
    const opened = steps.some((other) => "watch" in other && other.as === step.read);
    return opened && (!("until" in step) || sent.includes(`"${step.until}"`));
  });
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
