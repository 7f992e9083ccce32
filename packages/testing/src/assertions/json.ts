/** JSON object of unknown content. */
export interface JsonObject {
  readonly [field: string]: unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of keys, or `undefined` when the path does not exist. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here: unknown = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string | number, unknown>>)[key];
  }
  return here;
}

/** Returns the string at a path, or "" when there is none. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** Returns the elements of the array at a path, or none when there is no array. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the fields of the object at a path, or none when there is no object. */
export function fieldsAt(
  value: unknown,
  ...path: readonly (string | number)[]
): readonly (readonly [string, unknown])[] {
  const found = at(value, ...path);
  return isObject(found) ? Object.entries(found) : [];
}

/** Two JSON values, the expected one first. */
export interface Pair {
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Returns the first place where two JSON values differ, as `.items[0].kind`, with both values; `undefined` if they are equal. */
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

/** Formats a value as JSON for people, and truncates long ones. */
export function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
