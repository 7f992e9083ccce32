import { escapeName } from "../types/escape.ts";

/** On lists of type map: the names of the keys of their elements, in CEL. */
const KEYS = Symbol("keys");

/** Makes a list one whose elements are known by some of their fields. */
export function keyedBy(list: unknown[], names: readonly string[]): unknown[] {
  return Object.defineProperty(list, KEYS, { value: names.map((name) => escapeName(name) ?? name) });
}

function keysOf(list: readonly unknown[]): readonly string[] | undefined {
  return (list as { readonly [KEYS]?: readonly string[] })[KEYS];
}

/** Whether two lists have the same elements by their keys; undefined if the left one has no keys. */
export function equalKeyed(
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

/** `list + other`: what a set has is not added again, and elements of maps replace those with their key. */
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
