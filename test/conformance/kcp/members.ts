// Finds members of answers.
import { isJsonObject } from "@virtual-workspaces/apimachinery";

/** Returns whether a value has these members, by value. A list has them if each wanted item matches one of its items. */
export function has(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && wanted.every((one) => value.some((item) => has(item, one)));
  if (isJsonObject(wanted))
    return isJsonObject(value) && Object.entries(wanted).every(([name, member]) => has(value[name], member));
  return value === wanted;
}

/** Returns some members of a value, by paths such as `items.metadata.name`. A path through a list applies to each of its items. */
export function toldOf(value: unknown, paths: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(paths.map((path) => [path, at(value, path.split("."))]));
}

function at(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => at(item, [name, ...rest]));
  return isJsonObject(value) ? at(value[name], rest) : undefined;
}
