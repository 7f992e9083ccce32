import { type Node, OWN } from "../library/node.ts";
import { type Estimate, type Estimation, ONE, type Size, sum, UNKNOWN } from "./size.ts";

const TRAVERSAL = 0.1;
const PATTERN = 0.25;
const LONGEST_FORMAT_PATTERN = 128;
const ADDRESS: Size = { min: 4, max: 16 };
const OWN_TYPES = new Set(["Quantity", "Semver", "Ip", "Cidr"]);

/** Cost of a call without its arguments, from what is known of them; a method's receiver is the first argument. */
type Cost = (sizes: readonly Size[], types: readonly string[]) => { readonly cost: number; readonly size?: Size };

const up = (max: number, factor: number): number => Math.ceil(max * factor);
const max = (sizes: readonly Size[], at: number): number => (sizes[at] ?? UNKNOWN).max;

/** Reads an argument completely; the result has the same size. */
const reading =
  (argument: number, factor = 1): Cost =>
  (sizes) => ({ cost: up(max(sizes, argument), TRAVERSAL * factor), size: sizes[argument] ?? UNKNOWN });

const matching: Cost = (sizes) => ({
  cost: up(max(sizes, 0) + 1, TRAVERSAL) * up(max(sizes, 1), PATTERN),
  size: { min: 0, max: max(sizes, 0) },
});

/** Visits all elements of a list that are not strings. */
const overElements: Cost = (sizes) => ({ cost: up(max(sizes, 0), TRAVERSAL), size: ONE });
/** Functions whose cost depends on the length of the strings in the list. */
const ELEMENTWISE = new Set(["indexOf", "lastIndexOf", "isSorted", "sum", "min", "max"]);

const sets =
  (factor: number): Cost =>
  (sizes) => ({ cost: 1 + max(sizes, 0) * max(sizes, 1) * factor, size: ONE });

const copying: Cost = (sizes) => ({ cost: 1 + max(sizes, 0), size: sizes[0] ?? UNKNOWN });
const quadratic: Cost = (sizes) => ({ cost: 1 + max(sizes, 0) ** 2, size: sizes[0] ?? UNKNOWN });

const CALLS: Readonly<Record<string, Cost>> = {
  startsWith: reading(1),
  endsWith: reading(1),
  contains: (sizes) => ({ cost: up(max(sizes, 0), TRAVERSAL) * up(max(sizes, 1), TRAVERSAL) }),
  matches: matching,
  find: matching,
  findAll: matching,
  lowerAscii: reading(0),
  upperAscii: reading(0),
  substring: reading(0),
  trim: reading(0),
  url: reading(0),
  cidr: reading(0),
  isIP: reading(0),
  isCIDR: reading(0),
  ip: (sizes, types) => (types[0] === "Cidr" ? { cost: 1 } : reading(0)(sizes, types)),
  isCanonical: reading(1, 2),
  quantity: reading(0),
  isQuantity: reading(0),
  semver: reading(0),
  isSemver: reading(0),
  format: (sizes) => ({ cost: up(max(sizes, 0), TRAVERSAL) }),
  split: reading(0, 2),
  replace: (sizes) => ({ cost: up(max(sizes, 0), 2 * TRAVERSAL), size: replacedSize(sizes) }),
  join: (sizes) => ({ cost: up(UNKNOWN.max, TRAVERSAL), size: { min: 0, max: max(sizes, 0) * UNKNOWN.max } }),
  indexOf: overElements,
  lastIndexOf: overElements,
  isSorted: overElements,
  sum: overElements,
  min: overElements,
  max: overElements,
  includes: (sizes) => ({ cost: max(sizes, 0), size: ONE }),
  containsIP: (sizes, types) => ({
    cost: up(2 * ADDRESS.max, TRAVERSAL) + (types[1] === "string" ? up(max(sizes, 1), TRAVERSAL) : 0),
  }),
  containsCIDR: (sizes, types) => ({
    cost:
      up(2 * ADDRESS.max, TRAVERSAL) +
      up(ADDRESS.max, TRAVERSAL) +
      1 +
      (types[1] === "string" ? up(max(sizes, 1), TRAVERSAL) : 0),
  }),
  validate: (sizes) => ({ cost: up(up(max(sizes, 1), TRAVERSAL), LONGEST_FORMAT_PATTERN * PATTERN) }),
  equivalent: sets(2),
  intersects: sets(1),
  slice: copying,
  flatten: copying,
  reverse: copying,
  range: copying,
  distinct: quadratic,
  sort: quadratic,
  bytes: (sizes) => ({ cost: up(max(sizes, 0), TRAVERSAL), size: { min: 0, max: 4 * max(sizes, 0) } }),
  string: (sizes, types) => (types[0] === "bytes" ? reading(0)(sizes, types) : { cost: 1 }),
};

/** Estimates the cost of a call. */
export function callCost(name: string, args: readonly Estimate[], types: readonly string[]): Estimate {
  const plain = name.replace(OWN, "");
  const sizes = args.map(({ size }) => size ?? UNKNOWN);
  // The receiver is a namespace, which is not an argument.
  const inNamespace = types[0]?.endsWith("Namespace") === true && plain !== "isCanonical";
  if (plain === "dyn" || plain === "value" || plain === "of")
    return { ...(args.at(-1) ?? { size: undefined }), cost: 1 + sum(args) };
  if (plain === "join") return joinCost(args);
  if (plain === "contains" && inNamespace)
    return { ...sets(1)(sizes.slice(1), types), size: ONE, cost: sets(1)(sizes.slice(1), types).cost + sum(args) };
  const { cost, size } = (inNamespace
    ? CALLS[plain]?.(sizes.slice(1), types.slice(1))
    : CALLS[plain]?.(sizes, types)) ?? { cost: 1 };
  const isText = types[0] === "list<string>" || types[0] === "list<bytes>";
  const overTexts = isText && ELEMENTWISE.has(plain);
  const texts = max(sizes, 0) * (1 + up(args[0]?.shape?.element?.max ?? UNKNOWN.max, TRAVERSAL));
  return { cost: (overTexts ? texts : cost) + sum(args), size, element: args[0]?.element };
}

function joinCost(args: readonly Estimate[]): Estimate {
  const [list, separator] = args;
  const count = (list?.size ?? UNKNOWN).max;
  const longest = (list?.shape?.element?.max ?? UNKNOWN.max) * count;
  const separators = separator === undefined ? 0 : Math.max(0, count - 1) * (separator.size ?? UNKNOWN).max;
  return { cost: up(longest + separators, TRAVERSAL) + sum(args), size: { min: 0, max: longest + separators } };
}

function replacedSize(sizes: readonly Size[]): Size {
  const [text = UNKNOWN, part = UNKNOWN, by = UNKNOWN] = sizes;
  if (part.min === 0) return { min: 0, max: (text.max + 1) * by.max + text.max };
  if (by.max <= part.min) return { min: 0, max: text.max };
  return { min: 0, max: Math.ceil(text.max / part.min) * by.max };
}

/** Estimates the cost of an operator. */
export function operatorCost(operator: string, types: readonly string[], args: readonly Estimate[]): Estimate {
  const sizes = args.map(({ size }) => size ?? UNKNOWN);
  const given = sum(args);
  const [left = "dyn", right = "dyn"] = types;
  const smaller = up(Math.min(max(sizes, 0), max(sizes, 1)), TRAVERSAL);
  const textual = (type: string): boolean => type === "string" || type === "bytes";
  const unknown = left === "dyn" && right === "dyn";
  if (operator === "==" || operator === "!=") {
    return { cost: given + (left === right && OWN_TYPES.has(left) && operator === "==" ? 1 : smaller), size: ONE };
  }
  if (operator === "in") {
    const list = right.startsWith("list") ? max(sizes, 1) : right.startsWith("map") ? 1 : Math.max(1, max(sizes, 1));
    return { cost: given + list, size: ONE };
  }
  if (operator === "+") {
    const size = { min: (sizes[0]?.min ?? 0) + (sizes[1]?.min ?? 0), max: max(sizes, 0) + max(sizes, 1) };
    const cost = textual(left) || textual(right) || unknown ? Math.max(1, up(size.max, TRAVERSAL)) : 1;
    const isSized = textual(left) || left.startsWith("list") || unknown;
    return { cost: given + cost, size: isSized ? size : ONE, element: args[0]?.element, shape: args[0]?.shape };
  }
  const ordering = textual(left) || textual(right) ? smaller : unknown ? Math.max(1, smaller) : 1;
  return { cost: given + (/^[<>]/.test(operator) ? ordering : 1), size: ONE };
}

interface MacroCall {
  readonly name: string;
  readonly target: Node;
  readonly args: readonly Node[];
}

/** Cost of a macro besides its body: once, and for each element. */
interface Overhead {
  readonly once: number;
  readonly each: number;
}

// Costs of cel-go's macro expansions: names and calls cost 1, a list 10, a map 30.
const OVERHEADS: Readonly<Record<string, Overhead>> = {
  all: { once: 1, each: 3 },
  exists: { once: 1, each: 4 },
  exists_one: { once: 2, each: 2 },
  existsOne: { once: 2, each: 2 },
  filter: { once: 11, each: 13 },
  map: { once: 11, each: 12 },
  transformList: { once: 11, each: 12 },
  transformMap: { once: 31, each: 3 },
  transformMapEntry: { once: 31, each: 2 },
};

export function macroCost(estimator: Estimation, call: MacroCall): Estimate {
  const range = estimator.of(call.target);
  const overhead = OVERHEADS[call.name];
  if (call.name === "sortBy") return sortCost(estimator, call, range);
  return overhead === undefined ? optionalCost(estimator, call, range) : loopCost(estimator, call, { range, overhead });
}

function loopCost(estimator: Estimation, call: MacroCall, known: { range: Estimate; overhead: Overhead }): Estimate {
  const { range, overhead } = known;
  const bodies = bodiesOf(estimator, call, range);
  const size = range.size ?? UNKNOWN;
  const each = bodies.reduce((cost, body) => cost + body.cost, overhead.each);
  const result = bodies.at(-1);
  const cost = range.cost + overhead.once + size.max * each;
  if (overhead.once < 10) return { cost, size: ONE };
  const isFilter = call.name === "filter";
  return {
    cost,
    size,
    element: isFilter ? estimator.elementOf(range) : result,
    shape: isFilter ? range.shape : undefined,
  };
}

/** Estimates the bodies of a macro with its variables bound. */
function bodiesOf(estimator: Estimation, { name, args }: MacroCall, range: Estimate): Estimate[] {
  const twoVariables = args.length > 3 || (args.length === 3 && name !== "map");
  const names = args.slice(0, twoVariables ? 2 : 1).map((node) => (node.op === "id" ? node.args : ""));
  const isMap = range.shape?.type === "map";
  const element = estimator.elementOf(range);
  const key: Estimate = { cost: 0, size: isMap ? estimator.keySize : ONE };
  const values = twoVariables ? [key, element] : [isMap ? key : element];
  const bound = names.map((variable, at) => [variable, values[at] ?? key] as const);
  return args.slice(names.length).map((body) => estimator.with(bound, body));
}

function sortCost(estimator: Estimation, call: MacroCall, range: Estimate): Estimate {
  const [body] = bodiesOf(estimator, call, range);
  const { max } = range.size ?? UNKNOWN;
  return { ...range, cost: range.cost + 24 + max * (12 + (body?.cost ?? 0)) + max * max };
}

/** `optMap` and `optFlatMap` read the target twice. */
function optionalCost(estimator: Estimation, { args }: MacroCall, range: Estimate): Estimate {
  const [variable, body] = args;
  const name = variable?.op === "id" ? variable.args : "";
  const value: Estimate = estimator.capped ? range : { cost: 0, size: undefined };
  const inner = body === undefined ? range : estimator.with([[name, value]], body);
  return { ...inner, cost: 2 * range.cost + 13 + inner.cost };
}
