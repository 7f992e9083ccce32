import type { Node } from "../library/node.ts";
import { type Estimate, type Estimation, ONE, UNKNOWN } from "./size.ts";

interface MacroCall {
  readonly name: string;
  readonly target: Node;
  readonly args: readonly Node[];
}

/** What a macro costs besides its body: of its start and end, and for each element. */
interface Overhead {
  readonly once: number;
  readonly each: number;
}

// What cel-go's expansions of the macros come to: names cost 1, calls 1, a list 10, a map 30.
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

/** The bodies of a macro, its variables bound. */
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

/** `optMap` and `optFlatMap`: the target is read twice. */
function optionalCost(estimator: Estimation, { args }: MacroCall, range: Estimate): Estimate {
  const [variable, body] = args;
  const name = variable?.op === "id" ? variable.args : "";
  const value: Estimate = estimator.capped ? range : { cost: 0, size: undefined };
  const inner = body === undefined ? range : estimator.with([[name, value]], body);
  return { ...inner, cost: 2 * range.cost + 13 + inner.cost };
}
