import { OWN } from "../library/names.ts";
import type { Node } from "../library/node.ts";
import { LinearPattern } from "../pattern.ts";
import { type Estimate, ONE, sum, UNKNOWN } from "./size.ts";

/** Of a pattern that only the object spells. */
const UNKNOWN_PATTERN = 5000;
/** What a step of matching may take at worst, in units of cost, which are about 100 ns. */
const STEP = 0.6;
/** What reading or making a character or element takes. */
const ELEMENT = 0.2;
const MAX_RANGE = 1_000_000;
const SIZED = /^(?:string|bytes|dyn|list|map)/;

export interface KnownCall {
  readonly name: string;
  /** What it is called on, if anything, and the arguments. */
  readonly given: readonly Node[];
  readonly types: readonly string[];
  readonly estimates: readonly Estimate[];
  /** By what Kubernetes charges. */
  readonly estimate: Estimate;
}

/** What a call may really take, also where that is far more than Kubernetes charges. */
export function realCost({ name, given, types, estimates, estimate }: KnownCall): Estimate {
  const fn = name.replace(OWN, "");
  const read = estimates.reduce((all, { size }, at) => {
    return SIZED.test(types[at] ?? "dyn") ? all + ELEMENT * (size ?? UNKNOWN).max : all;
  }, 0);
  if (fn === "matches" || fn === "find" || fn === "findAll") {
    const steps = patternSize(given[1]) * ((estimates[0]?.size ?? UNKNOWN).max + 1);
    return { ...estimate, cost: sum(estimates) + STEP * steps + read };
  }
  if (fn === "range") {
    const [, count] = given;
    const max = count?.op === "value" && typeof count.args === "bigint" ? Number(count.args) : MAX_RANGE;
    return { cost: sum(estimates) + max, size: { min: 0, max }, element: { cost: 0, size: ONE } };
  }
  return { ...estimate, cost: estimate.cost + read + ELEMENT * (estimate.size?.max ?? 0) };
}

function patternSize(pattern: Node | undefined): number {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") return UNKNOWN_PATTERN;
  try {
    return new LinearPattern(pattern.args).steps("");
  } catch {
    return 1;
  }
}
