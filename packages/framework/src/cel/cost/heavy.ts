import { OWN } from "../library/environment.ts";
import type { Node } from "../library/node.ts";
import { LinearPattern } from "../pattern.ts";
import { type Estimate, ONE, type Size, sum, UNKNOWN } from "./size.ts";

/** Of a pattern that only the object spells. */
const UNKNOWN_PATTERN = 5000;
/** What a step of matching may take at worst, in units of cost, which are about 100 ns. */
const STEP = 0.6;
const MAX_RANGE = 1_000_000;

/**
 * What a call may really take where that is far more than Kubernetes charges, if it is such a call: matching of patterns
 * whose compiled form is large, and lists made of a number.
 */
export function heavyCall(name: string, given: readonly Node[]): ((args: readonly Estimate[]) => Estimate) | undefined {
  const fn = name.replace(OWN, "");
  if (fn === "matches" || fn === "find" || fn === "findAll") {
    const size = patternSize(given[1]);
    return (args) => {
      const text: Size = args[0]?.size ?? UNKNOWN;
      return { cost: sum(args) + STEP * size * (text.max + 1), size: { min: 0, max: text.max } };
    };
  }
  if (fn !== "range") return undefined;
  const [, count] = given;
  const max = count?.op === "value" && typeof count.args === "bigint" ? Number(count.args) : MAX_RANGE;
  return (args) => ({ cost: sum(args) + max, size: { min: 0, max }, element: { cost: 0, size: ONE } });
}

function patternSize(pattern: Node | undefined): number {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") return UNKNOWN_PATTERN;
  try {
    return new LinearPattern(pattern.args).steps("");
  } catch {
    return 1;
  }
}
