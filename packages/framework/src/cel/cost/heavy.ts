import { type Node, OWN } from "../library/node.ts";
import { LinearPattern } from "../values/pattern.ts";
import { type Caps, type Estimate, ONE, sum, UNKNOWN } from "./size.ts";

/** Of a pattern that only the object spells. */
const UNKNOWN_PATTERN = 5000;
/** What a step of matching may take at worst, in units of cost, which are about 100 ns. */
const STEP = 0.6;
/** What reading or making a character or element takes. */
const ELEMENT = 0.2;
/** What it takes to compare a character with one of a text that is sought, at worst. */
const PAIR = 0.01;
/** What printing a character of a nested text takes, or comparing it. */
const CHARACTER = 0.02;
/** What it takes to read a clock in a time zone. */
const ZONE = 2000;
const MAX_RANGE = 1_000_000;
const SIZED = /^(?:string|bytes|dyn|list|map)/;

export interface KnownCall {
  readonly name: string;
  /** What it is called on, if anything, and the arguments. */
  readonly given: readonly Node[];
  readonly types: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Of the object at hand. */
  readonly caps: Caps;
  /** By what Kubernetes charges. */
  readonly estimate: Estimate;
}

/** What a call may really take, also where that is far more than Kubernetes charges. */
export function realCost(call: KnownCall): Estimate {
  const { given, types, estimates, estimate, caps } = call;
  const fn = call.name.replace(OWN, "");
  const read = estimates.reduce((all, { size }, at) => {
    return SIZED.test(types[at] ?? "dyn") ? all + ELEMENT * (size ?? UNKNOWN).max : all;
  }, 0);
  if (fn === "matches" || fn === "find" || fn === "findAll") {
    const places = (estimates[0]?.size ?? UNKNOWN).max + 1;
    const steps = patternSize(given[1]) * places;
    // Each of all that are found may have been sought to the end.
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
  // Of all that only reads a field, clocks alone take an argument.
  const zone = fn.startsWith("get") && given.length > 1 ? ZONE : 0;
  return { ...estimate, cost: estimate.cost + read + made + zone + (EXTRA[fn]?.(call) ?? 0) };
}

/** What some calls take besides. */
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

/** What an operator takes besides, where Kubernetes charges little: for what it compares, or copies. */
export function realOperatorCost(
  operator: string,
  { operands, estimate, caps }: { readonly operands: readonly Estimate[] } & Pick<KnownCall, "estimate" | "caps">,
): number {
  if (operator === "+") return ELEMENT * (estimate.size ?? UNKNOWN).max;
  if (operator !== "==" && operator !== "!=" && operator !== "in") return 0;
  return Math.max(...operands.map((operand) => volumeOf(operand, caps)));
}

/** A text within another, or an element, which is compared with others as deeply as it goes. */
function seeking({ types, estimates, caps }: KnownCall): number {
  const [where, what] = estimates;
  if (types[0]?.startsWith("list") === true) return isFlat(types[0]) ? 0 : volumeOf(where, caps);
  return PAIR * (where?.size ?? UNKNOWN).max * (what?.size ?? UNKNOWN).max;
}

/** Every element of a list with every one of another, or of the same. */
function comparingAll({ types, estimates, caps }: KnownCall): number {
  const lists = estimates.filter((_, at) => types[at]?.startsWith("list") === true && !isFlat(types[at] ?? ""));
  return lists.length === 0 ? 0 : volumeOf(lists[0], caps) * (lists.at(-1)?.size ?? UNKNOWN).max;
}

function isFlat(type: string): boolean {
  return /^list<(?:bool|bytes|double|int|string|uint)>$/.test(type);
}

/** What going through a value takes, with all that is in it. */
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
