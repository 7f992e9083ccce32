// Finds members of answers.
import { isJsonObject } from "@virtual-workspaces/apimachinery";

/** Whether a value has these members, by value; a list has them if for each some item has it. */
export function has(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && wanted.every((one) => value.some((item) => has(item, one)));
  if (isJsonObject(wanted))
    return isJsonObject(value) && Object.entries(wanted).every(([name, member]) => has(value[name], member));
  return value === wanted;
}

/** Some members of a value, by paths like `items.metadata.name`: through a list they lead to all that is in it. */
export function toldOf(value: unknown, paths: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(paths.map((path) => [path, at(value, path.split("."))]));
}

function at(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => at(item, [name, ...rest]));
  return isJsonObject(value) ? at(value[name], rest) : undefined;
}
