import { Optional } from "@marcbachmann/cel-js";
import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { compareUtf8 } from "@virtual-workspaces/apimachinery/json";
import { CelError, durationNanos } from "./formatted.ts";
import { Cidr, Ip } from "./ip-address.ts";
import { compareQuantities, Quantity } from "./quantity.ts";
import { compareSemver, Semver } from "./semver.ts";
import { escapeName } from "./shape.ts";
import { UrlValue } from "./url.ts";

/** Returns the elements of a list, which is an array, or a set if the order is irrelevant. */
export function elementsOf(list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (list instanceof Set) return [...list];
  throw new CelError("no such overload");
}

/** Returns whether two values are equal. Values of different types are not, except numbers. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Set) return equalSets(a, b);
  if (b instanceof Set) return equal([...b], a);
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  const [left, right] = [entriesOf(a), entriesOf(b)];
  if (left !== undefined && right !== undefined) return equalMaps(left, right);
  return equalScalars(a, b);
}

/** The library represents map literals as objects. */
function entriesOf(value: object): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? new Map(Object.entries(value)) : undefined;
}

function equalSets(set: ReadonlySet<unknown>, other: unknown): boolean {
  const others = Array.isArray(other) || other instanceof Set ? [...other] : undefined;
  return others !== undefined && others.length === set.size && others.every((element) => set.has(element));
}

function equalLists(list: readonly unknown[], other: readonly unknown[]): boolean {
  return (
    equalKeyed(list, other, equal) ??
    (list.length === other.length && list.every((element, at) => equal(element, other[at])))
  );
}

function equalMaps(map: ReadonlyMap<unknown, unknown>, other: ReadonlyMap<unknown, unknown>): boolean {
  return map.size === other.size && [...map].every(([key, value]) => other.has(key) && equal(value, other.get(key)));
}

function equalScalars(a: object, b: object): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Duration && b instanceof Duration) return durationNanos(a) === durationNanos(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof Optional && b instanceof Optional) {
    return a.hasValue() && b.hasValue() ? equal(a.value(), b.value()) : a.hasValue() === b.hasValue();
  }
  return equalOwn(a, b);
}

/** Compares values of Kubernetes' own types. */
export function equalOwn(a: unknown, b: unknown): boolean {
  if (a instanceof Quantity && b instanceof Quantity) return compareQuantities(a, b) === 0;
  if (a instanceof Ip && b instanceof Ip) return a.equals(b);
  if (a instanceof Cidr && b instanceof Cidr) return a.equals(b);
  if (a instanceof UrlValue && b instanceof UrlValue) return a.text === b.text;
  return a instanceof Semver && b instanceof Semver && compareSemver(a, b) === 0;
}

/** Compares two values of comparable types: less than, equal to or more than 0. Throws a CelError. */
export function compare(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(durationNanos(a), durationNanos(b));
  throw new CelError("no such overload");
}

type AnyNumber = bigint | number | UnsignedInt;

function isNumber(value: unknown): value is AnyNumber {
  return typeof value === "bigint" || typeof value === "number" || value instanceof UnsignedInt;
}

/** Compares numbers exactly, also int with double. Returns NaN if they have no order. */
function compareNumbers(a: AnyNumber, b: AnyNumber): number {
  const left = a instanceof UnsignedInt ? a.valueOf() : a;
  const right = b instanceof UnsignedInt ? b.valueOf() : b;
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: JavaScript compares bigint and number exactly with it.
  return left == right ? 0 : Number.NaN;
}

/** Key of the CEL names of the element keys, on lists of type map. */
const KEYS = Symbol("keys");

/** Marks a list whose elements are identified by some of their fields. */
export function keyedBy(list: unknown[], names: readonly string[]): unknown[] {
  return Object.defineProperty(list, KEYS, { value: names.map((name) => escapeName(name) ?? name) });
}

function keysOf(list: readonly unknown[]): readonly string[] | undefined {
  return (list as { readonly [KEYS]?: readonly string[] })[KEYS];
}

/** Compares two lists by the keys of their elements; undefined if the left one has no keys. */
function equalKeyed(
  list: readonly unknown[],
  other: readonly unknown[],
  equal: (a: unknown, b: unknown) => boolean,
): boolean | undefined {
  const names = keysOf(list);
  if (names === undefined) return undefined;
  const own = new Map(list.map((element) => [keyText(element, names), element]));
  const others = new Map(other.map((element) => [keyText(element, names), element]));
  if (list.length !== other.length || own.size !== others.size) return false;
  return [...others].every(([key, element]) => own.has(key) && equal(own.get(key), element));
}

/** Implements `list + other`: sets skip elements that they contain, lists of type map replace those with the same key. */
export function concat(list: Iterable<unknown>, other: Iterable<unknown>): unknown {
  if (list instanceof Set) return new Set([...list, ...other]);
  const elements = [...list];
  const names = Array.isArray(list) ? keysOf(list) : undefined;
  if (names === undefined) return [...elements, ...other];
  const merged = new Map(elements.map((element) => [keyText(element, names), element]));
  for (const element of other) merged.set(keyText(element, names), element);
  return Object.defineProperty([...merged.values()], KEYS, { value: names });
}

function keyText(element: unknown, names: readonly string[]): string {
  const field = (name: string): unknown => (element instanceof Map ? element.get(name) : undefined);
  return JSON.stringify(names.map((name) => `${typeof field(name)} ${String(field(name))}`));
}
