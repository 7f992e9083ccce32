import { isObject } from "./json.ts";

/** Two JSON values, the one that was expected first. */
export interface Pair {
  readonly expected: unknown;
  readonly actual: unknown;
}

/** The first place where two JSON values differ, as `.items[0].kind`, with what stands there; `undefined`: they are equal. */
export function firstDifference({ expected, actual }: Pair, path = ""): (Pair & { readonly path: string }) | undefined {
  if (Object.is(expected, actual)) return undefined;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index++) {
      const found = firstDifference({ expected: expected[index], actual: actual[index] }, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const found = firstDifference({ expected: expected[key], actual: actual[key] }, `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return { expected, actual, path };
}

/** A value for people: JSON, cut where it gets long. */
export function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
