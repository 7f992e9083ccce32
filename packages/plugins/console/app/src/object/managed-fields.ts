import { isFields } from "./yaml/object-text.ts";

/** The fields of an entry of `managedFields`, such as `spec.containers[name=web].image`. */
export function fieldsOf(fieldsV1: unknown): readonly string[] {
  const found: string[] = [];
  collect(fieldsV1, "", found);
  return found;
}

function collect(node: unknown, path: string, found: string[]): void {
  const names = isFields(node) ? Object.keys(node).filter((name) => name !== ".") : [];
  if (!isFields(node) || names.length === 0) {
    if (path !== "") found.push(path);
    return;
  }
  for (const name of names) collect(node[name], path + stepOf(name, path === ""), found);
}

function stepOf(name: string, isFirst: boolean): string {
  const [kind, rest] = [name.slice(0, 2), name.slice(2)];
  if (kind === "f:") return /^[\w-]+$/.test(rest) ? `${isFirst ? "" : "."}${rest}` : `[${JSON.stringify(rest)}]`;
  if (kind === "k:") return `[${keysOf(rest)}]`;
  if (kind === "v:") return `[=${rest}]`;
  return `[${rest}]`;
}

function keysOf(json: string): string {
  try {
    const keys: unknown = JSON.parse(json);
    if (isFields(keys))
      return Object.entries(keys)
        .map(([key, value]) => `${key}=${String(value)}`)
        .join(",");
  } catch {
    // Shown as it is.
  }
  return json;
}
