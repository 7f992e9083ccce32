import { type Node, OWN } from "../library/node.ts";
import { LinearPattern } from "../values/pattern.ts";
import { type Caps, type Estimate, ONE, sum, UNKNOWN } from "./size.ts";

/** Size of a pattern that is only known at evaluation. */
const UNKNOWN_PATTERN = 5000;
/** Worst-case cost of a matching step, in cost units of about 100 ns. */
const STEP = 0.6;
/** Cost of reading or creating a character or element. */
const ELEMENT = 0.2;
/** Worst-case cost of comparing two characters in a string search. */
const PAIR = 0.01;
/** Cost of printing or comparing a character of a nested string. */
const CHARACTER = 0.02;
/** Cost of reading a clock in a time zone. */
const ZONE = 2000;
const MAX_RANGE = 1_000_000;
const SIZED = /^(?:string|bytes|dyn|list|map)/;

export interface KnownCall {
  readonly name: string;
  /** Receiver, if any, and arguments. */
  readonly given: readonly Node[];
  readonly types: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Size limits of the given object. */
  readonly caps: Caps;
  /** Estimate according to Kubernetes' costs. */
  readonly estimate: Estimate;
}

/** Estimates the real cost of a call, which can be far above Kubernetes' estimate. */
export function realCost(call: KnownCall): Estimate {
  const { given, types, estimates, estimate, caps } = call;
  const fn = call.name.replace(OWN, "");
  const read = estimates.reduce((all, { size }, at) => {
    return SIZED.test(types[at] ?? "dyn") ? all + ELEMENT * (size ?? UNKNOWN).max : all;
  }, 0);
  if (fn === "matches" || fn === "find" || fn === "findAll") {
    const places = (estimates[0]?.size ?? UNKNOWN).max + 1;
    const steps = patternSize(given[1]) * places;
    // Each match may have been searched for to the end of the string.
    return { ...estimate, cost: sum(estimates) + STEP * steps * (fn === "findAll" ? places : 1) + read };
  }
  if (fn === "range") {
    const [, count] = given;
    const max = count?.op === "value" && typeof count.args === "bigint" ? Number(count.args) : MAX_RANGE;
    return { cost: sum(estimates) + max, size: { min: 0, max }, element: { cost: 0, size: ONE } };
  }
  if (fn === "flatten") {
    const max = volumeOf(estimates[0], caps);
    return { cost: sum(estimates) + max, size: { min: 0, max } };
  }
  const made = ELEMENT * (estimate.size?.max ?? 0);
  // Among the field accessors, only clocks take an argument.
  const zone = fn.startsWith("get") && given.length > 1 ? ZONE : 0;
  return { ...estimate, cost: estimate.cost + read + made + zone + (EXTRA[fn]?.(call) ?? 0) };
}

/** Additional costs of some calls. */
const EXTRA: Readonly<Record<string, (call: KnownCall) => number>> = {
  indexOf: seeking,
  lastIndexOf: seeking,
  includes: seeking,
  split: seeking,
  replace: seeking,
  contains: comparingAll,
  equivalent: comparingAll,
  intersects: comparingAll,
  distinct: comparingAll,
  format: ({ estimates, caps }) => volumeOf(estimates.at(-1), caps),
};

/** Returns the additional cost of an operator whose comparisons or copies Kubernetes underestimates. */
export function realOperatorCost(
  operator: string,
  { operands, estimate, caps }: { readonly operands: readonly Estimate[] } & Pick<KnownCall, "estimate" | "caps">,
): number {
  if (operator === "+") return ELEMENT * (estimate.size ?? UNKNOWN).max;
  if (operator !== "==" && operator !== "!=" && operator !== "in") return 0;
  return Math.max(...operands.map((operand) => volumeOf(operand, caps)));
}

/** Searches a string for another, or a list for an element, which is compared deeply. */
function seeking({ types, estimates, caps }: KnownCall): number {
  const [where, what] = estimates;
  if (types[0]?.startsWith("list") === true) return isFlat(types[0]) ? 0 : volumeOf(where, caps);
  return PAIR * (where?.size ?? UNKNOWN).max * (what?.size ?? UNKNOWN).max;
}

/** Compares each element of a list with each of another, or of itself. */
function comparingAll({ types, estimates, caps }: KnownCall): number {
  const lists = estimates.filter((_, at) => types[at]?.startsWith("list") === true && !isFlat(types[at] ?? ""));
  return lists.length === 0 ? 0 : volumeOf(lists[0], caps) * (lists.at(-1)?.size ?? UNKNOWN).max;
}

function isFlat(type: string): boolean {
  return /^list<(?:bool|bytes|double|int|string|uint)>$/.test(type);
}

/** Returns the cost of traversing a value completely. */
function volumeOf(value: Estimate | undefined, caps: Caps): number {
  if (value?.shape !== undefined) return caps.nodes * (1 + CHARACTER * caps.text);
  const { max } = value?.size ?? UNKNOWN;
  return value?.element === undefined ? max : max * (1 + volumeOf(value.element, caps));
}

function patternSize(pattern: Node | undefined): number {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") return UNKNOWN_PATTERN;
  try {
    return new LinearPattern(pattern.args).steps("");
  } catch {
    return 1;
  }
}
