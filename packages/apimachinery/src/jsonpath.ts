import { type JsonPath, type JsonPathEach, type JsonPathFilter, parseJsonPath } from "./jsonpath-grammar.ts";

/**
 * A path in the subset of Kubernetes' JSONPath that printer columns and selectable fields use: `.spec.text`,
 * `.metadata.labels.app\.kubernetes\.io/name`, `['key']`, `[0]`, `[-1]`, `[*]`, `.*`, `[?(@.type=="Ready")]` (also `!=`,
 * numbers, booleans, and a bare path for "is there"). The result is compiled once and called often; it gives all
 * values that the path leads to, in order, and none where something is missing or of another shape. Only own
 * properties are followed.
 * @throws Error that names the position, when the path is malformed.
 */
export function compileJsonPath(path: string): (object: unknown) => unknown[] {
  const parsed = parseJsonPath(path);
  return (object) => {
    const results: unknown[] = [];
    collect(parsed, object, results);
    return results;
  };
}

/**
 * As {@link compileJsonPath}, for the first value only; undefined when there is none. Calls allocate nothing, but for
 * wildcards over objects.
 * @throws Error that names the position, when the path is malformed.
 */
export function compileJsonPathFirst(path: string): (object: unknown) => unknown {
  const parsed = parseJsonPath(path);
  return (object) => first(parsed, object);
}

function collect(path: JsonPath, start: unknown, results: unknown[]): void {
  const value = follow(path.steps, start);
  if (value === undefined) return;
  if (path.each === undefined) {
    results.push(value);
    return;
  }
  const { filter, rest } = path.each;
  for (const element of elements(path.each, value)) if (passes(filter, element)) collect(rest, element, results);
}

function first(path: JsonPath, start: unknown): unknown {
  const value = follow(path.steps, start);
  if (value === undefined || path.each === undefined) return value;
  const { filter, rest } = path.each;
  for (const element of elements(path.each, value)) {
    const found = passes(filter, element) ? first(rest, element) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function follow(steps: readonly (string | number)[], start: unknown): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) value = typeof step === "number" ? value.at(step) : undefined;
    else if (typeof step === "number" || !Object.hasOwn(value, step)) return undefined;
    else value = (value as Record<string, unknown>)[step];
  }
  return value;
}

const NONE: readonly unknown[] = [];

function elements({ filter }: JsonPathEach, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  // Only a bare wildcard goes over an object; a filter is for arrays.
  return filter === undefined && typeof value === "object" && value !== null ? Object.values(value) : NONE;
}

function passes(filter: JsonPathFilter | undefined, element: unknown): boolean {
  if (filter === undefined) return true;
  const value = first(filter.path, element);
  if (value === undefined || filter.comparison === undefined) return value !== undefined;
  const { operator, literal } = filter.comparison;
  // What cannot be compared is neither equal nor unequal.
  return typeof value === typeof literal && (value === literal) === (operator === "==");
}
