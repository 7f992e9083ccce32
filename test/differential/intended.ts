// Differences that stay, each with its reason. What is listed here and no longer differs fails a test.
import type { Difference } from "./compare.ts";

export interface Intended {
  readonly topic: string;
  /** Of names of cases. */
  readonly cases: RegExp;
  /** Of {@link Difference.at}. */
  readonly at: RegExp;
  /** One sentence, for docs/conformance.md. */
  readonly reason: string;
}

export const INTENDED: readonly Intended[] = [];

/** The entry that a difference falls under. */
export function intention(topic: string, name: string, { at }: Difference): Intended | undefined {
  return INTENDED.find((entry) => entry.topic === topic && entry.cases.test(name) && entry.at.test(at));
}
