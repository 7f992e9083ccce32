// Differences between the answers of two servers, without the known ones.
import type { Difference } from "../../differential/compare.ts";
import { differences } from "../../differential/compare.ts";
import type { Answer } from "../../differential/play.ts";
import { KNOWN } from "./differences.ts";
import type { Known } from "./found.ts";
import { type Case, describeStep } from "./step.ts";

interface Knowing {
  /** Known differences. @default {@link KNOWN} */
  readonly known?: readonly Known[];
  /** Called with each entry that explains a difference. */
  readonly used?: (entry: Known) => void;
}

/** Returns the differences that are not known. */
export function unknown(
  { name, steps }: Case,
  [expected, actual]: readonly [readonly Answer[], readonly Answer[]],
  { known = KNOWN, used }: Knowing = {},
): Difference[] {
  return differences(expected, actual).filter((difference) => {
    const at = Number.parseInt(difference.at, 10) - 1;
    const step = steps[at];
    const sent = step === undefined ? "" : describeStep(step);
    const found = { ...difference, name, sent, theirs: expected[at] ?? {}, ours: actual[at] ?? {} };
    const entry = known.find(({ is }) => is(found));
    if (entry !== undefined) used?.(entry);
    return entry === undefined;
  });
}

/** Describes the requests and the differing answers. */
export function explain({ steps }: Case, found: readonly Difference[]): string {
  const sent = steps.map((step, at) => `  ${at + 1} ${describeStep(step)}`);
  const lines = found.map(
    ({ at, expected, actual }) => `  ${at}\n    kcp  ${show(expected)}\n    ours ${show(actual)}`,
  );
  return `\n${sent.join("\n")}\nAnswers differ:\n${lines.join("\n")}`;
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 1200 ? `${text.slice(0, 1200)}…` : text;
}
