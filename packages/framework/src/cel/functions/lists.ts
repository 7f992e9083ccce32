import { Optional } from "@marcbachmann/cel-js";
import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { compare, elementsOf, equal } from "../values/compare.ts";
import { CelError, durationNanos, durationOf } from "../values/formatted.ts";
import type { FunctionSpec } from "./signature.ts";

type Elements = Iterable<unknown>;

const SUMMABLE = ["int", "uint", "double", "duration"];
const COMPARABLE = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
/** Longest list that `lists.range` creates. */
const MAX_RANGE = 1_000_000n;
/** Types of elements that JavaScript's sets compare by value. */
const PRIMITIVE = new Set(["string", "bigint", "boolean"]);

/** Kubernetes' and cel-go's functions for lists, sets and optional values. */
export const LISTS: readonly FunctionSpec[] = [
  ...COMPARABLE.flatMap((type): FunctionSpec[] => [
    [`.isSorted(list(${type})) bool`, isSorted],
    [`.max(list(${type})) ${type}`, (list: Elements) => extreme(list, 1)],
    [`.min(list(${type})) ${type}`, (list: Elements) => extreme(list, -1)],
    [`.sort(list(${type})) list(${type})`, (list: Elements) => sortedBy(list, list)],
  ]),
  ...SUMMABLE.map(
    (type): FunctionSpec => [
      `.sum(list(${type})) ${type}`,
      (list: Elements) => elementsOf(list).reduce(plus, ZEROS[type]),
    ],
  ),
  [".indexOf(list(A), dyn) int", (list: Elements, value: unknown) => indexOf(elementsOf(list), value)],
  [
    ".lastIndexOf(list(A), dyn) int",
    (list: Elements, value: unknown) => {
      const elements = elementsOf(list);
      return BigInt(elements.findLastIndex((element) => equal(element, value)));
    },
  ],
  [".includes(list(A), dyn) bool", (list: Elements, value: unknown) => includes(elementsOf(list), value)],
  [".slice(list(T), int, int) list(T)", slice],
  [".flatten(list(list(T))) list(T)", (list: Elements) => flatten(list, 1n)],
  [".flatten(list(dyn), int) list(dyn)", flatten],
  ["lists.range(int) list(int)", range],
  [".reverse(list(T)) list(T)", (list: Elements) => [...list].reverse()],
  [".distinct(list(T)) list(T)", distinct],
  [".first(list(A)) optional(A)", (list: Elements) => Optional.of(elementsOf(list)[0])],
  [".last(list(A)) optional(A)", (list: Elements) => Optional.of(elementsOf(list).at(-1))],
  ["sets.contains(list(T), list(T)) bool", contains],
  ["sets.equivalent(list(T), list(T)) bool", (a: Elements, b: Elements) => contains(a, b) && contains(b, a)],
  [
    "sets.intersects(list(T), list(T)) bool",
    (a: Elements, b: Elements) => {
      const others = elementsOf(b);
      return elementsOf(a).some((element) => includes(others, element));
    },
  ],
  [
    "optional.ofNonZeroValue(A) optional(A)",
    (value: unknown) => (isZero(value) ? Optional.none() : Optional.of(value)),
  ],
  ["optional.unwrap(list(optional(A))) list(A)", unwrap],
  [".unwrapOpt(list(optional(A))) list(A)", unwrap],
];

const ZEROS: Readonly<Record<string, unknown>> = {
  int: 0n,
  uint: new UnsignedInt(0n),
  double: 0,
  duration: new Duration(0n),
};

function isSorted(list: Elements): boolean {
  const elements = elementsOf(list);
  return elements.every((element, at) => at === 0 || compare(elements[at - 1], element) <= 0);
}

function extreme(list: Elements, sign: 1 | -1): unknown {
  const elements = elementsOf(list);
  if (elements.length === 0) throw new CelError(`${sign === 1 ? "max" : "min"} called on empty list`);
  return elements.reduce((best, element) => (compare(element, best) * sign > 0 ? element : best));
}

function plus(a: unknown, b: unknown): unknown {
  if (typeof a === "bigint" && typeof b === "bigint") {
    if (BigInt.asIntN(64, a + b) !== a + b) throw new CelError("integer overflow");
    return a + b;
  }
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (a instanceof UnsignedInt && b instanceof UnsignedInt) return new UnsignedInt(a.valueOf() + b.valueOf());
  if (a instanceof Duration && b instanceof Duration) return durationOf(durationNanos(a) + durationNanos(b));
  // An empty list of doubles looks like one of ints, so the first addend has another type.
  if (a === 0n) return b;
  throw new CelError("no such overload");
}

function indexOf(elements: readonly unknown[], value: unknown): bigint {
  return BigInt(elements.findIndex((element) => equal(element, value)));
}

function includes(elements: readonly unknown[], value: unknown): boolean {
  return elements.some((element) => equal(element, value));
}

function slice(list: Elements, start: bigint, end: bigint): readonly unknown[] {
  const elements = elementsOf(list);
  const what = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new CelError(`${what}, negative indexes not supported`);
  if (start > end) throw new CelError(`${what}, start index must be less than or equal to end index`);
  if (end > elements.length) throw new CelError(`${what}, list is length ${elements.length}`);
  return elements.slice(Number(start), Number(end));
}

function flatten(list: Elements, depth: bigint): unknown[] {
  if (depth < 0n) throw new CelError("level must be non-negative");
  return elementsOf(list).flat(Number(depth));
}

function range(size: bigint): bigint[] {
  if (size < 0n) throw new CelError(`lists.range: size must be non-negative, got ${size}`);
  if (size > MAX_RANGE) throw new CelError(`lists.range: size ${size} exceeds maximum allowed (${MAX_RANGE})`);
  return Array.from({ length: Number(size) }, (_, at) => BigInt(at));
}

function distinct(list: Elements): unknown[] {
  const seen = new Set<unknown>();
  const found: unknown[] = [];
  for (const element of list) {
    const known = PRIMITIVE.has(typeof element) ? seen.has(element) : includes(found, element);
    if (known) continue;
    seen.add(element);
    found.push(element);
  }
  return found;
}

/** Returns the elements of a list in the order of their keys. */
export function sortedBy(list: Elements, keys: Elements): unknown[] {
  const elements = elementsOf(list);
  const pairs = elementsOf(keys).map((key, at) => ({ key, element: elements[at] }));
  return pairs.sort((a, b) => compare(a.key, b.key)).map(({ element }) => element);
}

function contains(list: Elements, wanted: Elements): boolean {
  const elements = elementsOf(list);
  return elementsOf(wanted).every((element) => includes(elements, element));
}

function unwrap(list: Elements): unknown[] {
  return elementsOf(list).flatMap((element) => {
    if (!(element instanceof Optional)) return [element];
    return element.hasValue() ? [element.value()] : [];
  });
}

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  if (value instanceof UnsignedInt) return value.valueOf() === 0n;
  if (value instanceof Duration) return durationNanos(value) === 0n;
  return (Array.isArray(value) || value instanceof Uint8Array) && value.length === 0;
}
